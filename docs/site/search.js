// SPDX-License-Identifier: Apache-2.0
// A page that is opened from a folder may load scripts, but neither data nor workers. There the index comes as a script
// (docs/site/hooks.py writes it), and what the theme would run in a worker runs in a hidden frame.
if (location.protocol === "file:") {
  const index = new URL("../search/search_index.js", document.currentScript.src).href;

  window.__search = {
    index: new Promise((done) => {
      const script = document.createElement("script");
      script.src = index;
      script.onload = () => done(window.searchIndex);
      document.head.append(script);
    }),
  };

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = new Promise((done) => { this.frame.loaded = done; });
      document.body.append(this.frame);
      const inside = this.frame.contentDocument;
      inside.open();
      inside.write(`<script>postMessage = (data) => frameElement.answer(data)</script>
        <script src="${new URL(url, location.href).href}" onload="frameElement.loaded()"></script>`);
      inside.close();
    }
    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() { this.frame.remove(); }
  };
}
