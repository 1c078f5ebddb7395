// Machine: the devices of the nodes as text: tooltips and the table below the picture.
// SPDX-License-Identifier: Apache-2.0
import type { PlacedDevice } from "../data/places";
import { count, ranges } from "../ui/format";
import { folded_table, make_table } from "../ui/table";
import type { Occupants } from "./occupants";

const MAX_ROWS = 2000;

/** "rank 3", "ranks 3, 7"; empty: no rank uses it. */
function users_words(device: PlacedDevice, occupants: Occupants): string {
  const users = occupants.users_of(device);
  return users.length === 0 ? "" : `rank${users.length > 1 ? "s" : ""} ${ranges(users)}`;
}

/** The lines of the tooltip. */
export function device_lines(device: PlacedDevice, occupants: Occupants): { name: string; text: string }[] {
  const lines = [
    { name: "name", text: device.name === device.label ? "" : (device.name ?? "") },
    { name: "address", text: device.address ?? "" },
    { name: "is near", text: occupants.places.near_words(device) },
    { name: "is used by", text: users_words(device, occupants) },
  ];
  return lines.filter((line) => line.text !== "");
}

/** Undefined: the machine has no devices. */
export function device_table(orders: Occupants[]): HTMLDetailsElement | undefined {
  const { places } = orders[0], devices = places.devices.flat(), with_gpus = orders.filter((order) => order.order.slots?.gpus.length);
  if (devices.length === 0) return undefined;
  const unit = places.unit_word;
  return folded_table(
    `Table: devices of each ${unit}`,
    () =>
      make_table(
        `Devices of each ${unit}${devices.length > MAX_ROWS ? `, the first ${count(MAX_ROWS)} of ${count(devices.length)}` : ""}`,
        [
          { name: unit[0].toUpperCase() + unit.slice(1), cell: (device: PlacedDevice) => places.units[device.unit].label },
          { name: "Device", cell: (device: PlacedDevice) => device.label },
          { name: "Name", cell: (device: PlacedDevice) => device.name || "–" },
          { name: "Address", cell: (device: PlacedDevice) => device.address || "–" },
          { name: "Near", cell: (device: PlacedDevice) => places.near_words(device) },
          ...with_gpus.map((order) => ({ name: `Used by, ${order.order.label}`, cell: (device: PlacedDevice) => users_words(device, order) || "–" })),
        ],
        devices.slice(0, MAX_ROWS),
        { sortable: true },
      ),
    false,
  );
}
