import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Exports of @scoregw/quota/top","description":"","frontmatter":{},"headers":[],"relativePath":"reference/top.md","filePath":"reference/top.md"}');
const _sfc_main = { name: "reference/top.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="exports-of-scoregwquotatop" tabindex="-1">Exports of <code>@scoregw/quota/top</code> <a class="header-anchor" href="#exports-of-scoregwquotatop" aria-label="Permalink to &quot;Exports of \`@scoregw/quota/top\`&quot;">​</a></h1><p>Who spends and who is refused most; see <a href="./../guide/top-subjects">Top subjects</a>.</p><table tabindex="0"><thead><tr><th>Export</th><th>What it is</th></tr></thead><tbody><tr><td><code>topSubjects(options)</code></td><td>Begins to count; answers what tells the top.</td></tr><tr><td><code>TopSubjectsOptions</code></td><td><code>quota</code>, <code>periodMs</code>, <code>layer</code>, <code>clock</code>.</td></tr><tr><td><code>TopSubjects</code></td><td><code>spent(category, count)</code>, <code>refused(category, count)</code>, <code>sinceAt()</code>, <code>stop()</code></td></tr><tr><td><code>TopSubject</code></td><td><code>subject</code>, <code>amount</code>, <code>atLeast</code>.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/top.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const top = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  top as default
};
