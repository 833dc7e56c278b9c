import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"API","description":"","frontmatter":{},"headers":[],"relativePath":"api/README.md","filePath":"api/README.md"}');
const _sfc_main = { name: "api/README.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="api" tabindex="-1">API <a class="header-anchor" href="#api" aria-label="Permalink to &quot;API&quot;">​</a></h1><h2 id="modules" tabindex="-1">Modules <a class="header-anchor" href="#modules" aria-label="Permalink to &quot;Modules&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Module</th><th>Description</th></tr></thead><tbody><tr><td><a href="./@scoregw/quota">@scoregw/quota</a></td><td>For whoever makes a quota engine and asks it. Authors of stores find their ports in <code>@scoregw/quota/store</code>, authors of HTTP adapters their core in <code>@scoregw/quota/http</code>.</td></tr><tr><td><a href="./@scoregw/quota-express">@scoregw/quota-express</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-fastify">@scoregw/quota-fastify</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-fetch">@scoregw/quota-fetch</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-fetch/hono">@scoregw/quota-fetch/hono</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-redis">@scoregw/quota-redis</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-sql">@scoregw/quota-sql</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-testkit">@scoregw/quota-testkit</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota-testkit/http">@scoregw/quota-testkit/http</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota/adaptive">@scoregw/quota/adaptive</a></td><td>Mode <code>adaptive</code>: the law that moves its factor, what it looks at, and the ticker that applies it.</td></tr><tr><td><a href="./@scoregw/quota/calendar-1">@scoregw/quota/calendar</a></td><td>Calendar windows, on luxon: this entry alone needs it.</td></tr><tr><td><a href="./@scoregw/quota/http">@scoregw/quota/http</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota/options">@scoregw/quota/options</a></td><td>For those who write a store or an adapter: options checked as the library checks its own, with the same texts.</td></tr><tr><td><a href="./@scoregw/quota/prometheus">@scoregw/quota/prometheus</a></td><td>-</td></tr><tr><td><a href="./@scoregw/quota/store">@scoregw/quota/store</a></td><td>For those who write a store: the ports, what they promise, and the transitions of a row of windows that every store makes alike; and what the types of the engine are made of.</td></tr><tr><td><a href="./@scoregw/quota/top">@scoregw/quota/top</a></td><td>Who spends and who is refused most, in bounded memory.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("api/README.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const README = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  README as default
};
