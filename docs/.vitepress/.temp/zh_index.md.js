import { ssrRenderAttrs, ssrRenderAttr } from "vue/server-renderer";
import { _ as _imports_0 } from "./benchmarks.BxPSgMma.js";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"@scoregw/quota","description":"","frontmatter":{"aside":false,"outline":false},"headers":[],"relativePath":"zh/index.md","filePath":"zh/index.md"}');
const _sfc_main = { name: "zh/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="scoregwquota" tabindex="-1">@scoregw/quota <a class="header-anchor" href="#scoregwquota" aria-label="Permalink to &quot;@scoregw/quota&quot;">​</a></h1><p>面向 TypeScript 服务器的配额引擎：一次判断覆盖每位调用者的全部限额，要么全部计入，要么一个也不计。</p><div class="language-ts vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { simpleQuota } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &#39;@scoregw/quota&#39;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> quota</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> simpleQuota</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">({ limit: </span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;">100</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">, per: </span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;">&#39;15m&#39;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> })</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> decision</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> await</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> quota.</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">consume</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">({ subject: </span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;">&#39;u42&#39;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> })</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">console.</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">log</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(decision.allowed) </span><span style="--shiki-light:#66707B;--shiki-dark:#BDC4CC;">// =&gt; true</span></span></code></pre></div><p><a href="./getting-started">快速上手</a> · <a href="./../playground">演练场（英文）</a> · <a href="./../guide/concepts">全部文档（英文）</a></p><ul><li><strong>多个限额，一次判断。</strong> 个人与全站、1 小时与 1 天的配额同时检查；任何一个不足，所有计数都不变。</li><li><strong>按操作计费。</strong> 每种操作消耗多少额度由您决定。结果未定的工作可以先预留，成功后确认，失败则退还。</li><li><strong>拒绝时说得清楚。</strong> 429 响应体写明是哪一个限额、已用多少、何时可以重试，附带 <code>Retry-After</code>，中英文均可。</li><li><strong>存储任选。</strong> 内存、Redis 与 Valkey、PostgreSQL 与 SQLite；也可以自己实现，用同一套公开的用例检验。</li></ul><p><img${ssrRenderAttr("src", _imports_0)} alt="每秒判断次数，与其他库对比：内存与 Redis"></p><h2 id="我们保证" tabindex="-1">我们保证 <a class="header-anchor" href="#我们保证" aria-label="Permalink to &quot;我们保证&quot;">​</a></h2><table tabindex="0"><thead><tr><th>保证</th><th>含义</th></tr></thead><tbody><tr><td>要么全部，要么没有</td><td>一次请求在每一层的每个窗口中都计入，否则一个也不计。</td></tr><tr><td>拒绝不消耗额度</td><td>被拒绝的请求不改变任何计数，也不会开启新的窗口。</td></tr><tr><td><code>Retry-After</code> 说到做到</td><td>没有其他请求、设置不变时，等够秒数后同样的请求一定放行；等也没用的会明说。</td></tr><tr><td>退还找得到原来的窗口</td><td>额度只退回当初扣除的那个窗口，且只退一次。</td></tr><tr><td>重复请求无害</td><td>同一个 id 的一次尝试只计一次，无论由谁重发。</td></tr><tr><td>查询不消耗额度</td><td>查看状态和预先询问都不改变计数。</td></tr><tr><td>设置可在运行中修改</td><td>模式、单独配额、全站开关与倍率：整体校验，立即生效。</td></tr><tr><td>存储故障不等于拒绝</td><td>存储没有应答时，返回专门的错误，或按您定的故障策略处理。</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("zh/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
