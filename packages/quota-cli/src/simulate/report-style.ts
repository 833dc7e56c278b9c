import { Html } from './html.ts'

/** The style of a report, light and dark, for all screen widths. */
export const STYLE: Html = new Html(`
:root { color-scheme: light dark; --text: #1f2430; --soft: #5b6472; --line: #d9dde4; --back: #fff; --good: #4c8bd8; --bad: #c8322b; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e7e9ee; --soft: #a3acba; --line: #3a4150; --back: #15181f; --good: #5b9be6; --bad: #f0655d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1024px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin-top: 2.5rem; overflow-wrap: anywhere; }
p, li { overflow-wrap: anywhere; } .notes { color: var(--soft); padding-left: 1.2rem; } .notes:empty { display: none; }
dl { display: flex; flex-wrap: wrap; gap: 12px 40px; } dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; } small { font-size: .9rem; color: var(--soft); }
figure { margin: 16px 0; } svg { display: block; width: 100%; min-width: 760px; height: auto; } svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
figcaption { color: var(--soft); font-size: .85rem; }
.grid { stroke: var(--line); } .hit { fill: transparent; } .admitted { fill: var(--good); } .refused { fill: var(--bad); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; } .key.admitted { background: var(--good); } .key.refused { background: var(--bad); }
.scroll { overflow-x: auto; margin: 20px 0; } figure .scroll { margin: 0 0 8px; } dt { overflow-wrap: anywhere; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: 4px 0; } th { color: var(--soft); font-weight: 500; }
th, td { text-align: right; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--back); min-width: 8.5em; overflow-wrap: anywhere; white-space: normal; }
:focus-visible { outline: 2px solid var(--good); outline-offset: 2px; }
`)
