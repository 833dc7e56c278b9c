import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Exports of @scoregw/quota/prometheus","description":"","frontmatter":{},"headers":[],"relativePath":"reference/prometheus.md","filePath":"reference/prometheus.md"}');
const _sfc_main = { name: "reference/prometheus.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="exports-of-scoregwquotaprometheus" tabindex="-1">Exports of <code>@scoregw/quota/prometheus</code> <a class="header-anchor" href="#exports-of-scoregwquotaprometheus" aria-label="Permalink to &quot;Exports of \`@scoregw/quota/prometheus\`&quot;">​</a></h1><p>For servers that are watched by Prometheus; see <a href="./../guide/metrics">Metrics</a>. It needs <a href="https://github.com/siimon/prom-client" target="_blank" rel="noreferrer">prom-client</a> 15, an optional peer dependency. The main entry does not.</p><table tabindex="0"><thead><tr><th>Export</th><th>What it is</th></tr></thead><tbody><tr><td><code>registerQuotaMetrics(options)</code></td><td>Counts what an engine decides; answers a function that ends this and takes the metrics out.</td></tr><tr><td><code>QuotaMetricsOptions</code></td><td><code>quota</code>, <code>registry</code>, <code>prefix</code>.</td></tr></tbody></table><h2 id="names" tabindex="-1">Names <a class="header-anchor" href="#names" aria-label="Permalink to &quot;Names&quot;">​</a></h2><p>Each begins with <code>prefix</code>, by default <code>scoregw_quota_</code>; labels and meanings are in <a href="./../guide/metrics#what-is-measured">Metrics</a>.</p><ul><li>Of decisions: <code>decisions_total</code>, <code>window_decisions_total</code>, <code>refusals_total</code>, <code>shadowed_refusals_total</code>, <code>degraded_decisions_total</code>, <code>decision_duration_seconds</code>.</li><li>Of tokens: <code>tokens_charged_total</code>, <code>overrun_tokens_total</code>, <code>near_limit_total</code>.</li><li>Of holds: <code>holds_open</code>, <code>holds_expired_total</code>.</li><li>Of what is in force: <code>settings_version</code>, <code>adaptive_factor</code>.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/prometheus.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const prometheus = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  prometheus as default
};
