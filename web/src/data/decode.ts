// data, first step: packed arrays of the document become typed arrays (base64, then the zlib of the browser).
// SPDX-License-Identifier: Apache-2.0
import type { PackedArray } from "./schema";

function from_base64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) out[i] = binary.charCodeAt(i);
  return out;
}

async function inflate(packed: PackedArray): Promise<ArrayBuffer> {
  if (packed.length === 0) return new ArrayBuffer(0);
  const stream = new Blob([from_base64(packed.data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  if (buffer.byteLength !== packed.length * 4)
    throw new Error(`an array of ${packed.length} values holds ${buffer.byteLength} bytes: the file is damaged`);
  return buffer;
}

// Every browser that has DecompressionStream runs on little-endian machines, so the bytes are the values.
export async function decode_u32(packed: PackedArray): Promise<Uint32Array> {
  return new Uint32Array(await inflate(packed));
}

export async function decode_f32(packed: PackedArray): Promise<Float32Array> {
  return new Float32Array(await inflate(packed));
}
