import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Exports of @scoregw/quota/calendar","description":"","frontmatter":{},"headers":[],"relativePath":"reference/calendar.md","filePath":"reference/calendar.md"}');
const _sfc_main = { name: "reference/calendar.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="exports-of-scoregwquotacalendar" tabindex="-1">Exports of <code>@scoregw/quota/calendar</code> <a class="header-anchor" href="#exports-of-scoregwquotacalendar" aria-label="Permalink to &quot;Exports of \`@scoregw/quota/calendar\`&quot;">​</a></h1><p>For policies with windows of the calendar; see <a href="./../guide/calendar-limits">Calendar limits</a>. It needs <a href="https://moment.github.io/luxon/" target="_blank" rel="noreferrer">luxon</a> 3, an optional peer dependency. The main entry does not.</p><table tabindex="0"><thead><tr><th>Export</th><th>What it is</th></tr></thead><tbody><tr><td><code>luxonCalendar()</code></td><td>A calendar made with luxon, for the option <code>calendar</code> of <code>createQuota</code>.</td></tr><tr><td><code>Calendar</code></td><td>Its type, and a port for one of your own: <code>isTimeZone</code>, <code>periods</code>.</td></tr><tr><td><code>OwnAnchor</code></td><td>Where a subject&#39;s own periods begin, and where they did before that was changed.</td></tr><tr><td><code>TwoPeriods</code></td><td>Two periods in a row, epoch milliseconds: <code>[start, end, nextEnd]</code>.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/calendar.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const calendar = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  calendar as default
};
