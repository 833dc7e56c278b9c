import { counted, percent, several } from '../text.ts'
import { type Html, html } from './html.ts'
import { STYLE } from './report-style.ts'
import type { Difference, PolicyResult, Simulation } from './result.ts'
import { chargedRows, differenceTable, logCounts, logNotes, policyNotes, type ResultTable, tablesOf } from './rows.ts'
import { SKIP_TEXTS } from './skipped.ts'
import { timeChart } from './time-chart.ts'

/** A simulation as one self-contained page, without scripts and links. */
export function report(simulation: Simulation): string {
  const title = `What ${simulation.policies.map(({ policy }) => policy).join(' and ')} would have done`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${ofLog(simulation)}
${simulation.difference === undefined ? '' : ofDifference(simulation.difference, simulation.policies)}
${simulation.policies.map(ofPolicy)}
</main>
</body>
</html>
`
  return page.text
}

function ofLog(simulation: Simulation): Html {
  const reasons = simulation.skipped.reasons.map(
    ({ reason, count, examples }) =>
      `skipped ${several(count, 'line')}: ${SKIP_TEXTS[reason]} (line ${examples.map(({ line }) => line).join(', ')})`,
  )
  return html`<p>${simulation.logs.join(', ')}: ${logCounts(simulation)}</p>
${noted([...logNotes(simulation), ...reasons])}`
}

function ofPolicy(result: PolicyResult): Html {
  const { policy, requests, refused, subjects } = result
  return html`<section>
<h2>${policy}</h2>
<dl>
<div><dt>Requests</dt><dd>${counted(requests)}</dd></div>
<div><dt>Refused</dt><dd>${counted(refused)} <small>${percent(refused, requests)}</small></dd></div>
<div><dt>Subjects refused</dt><dd>${counted(subjects.refused)} <small>of ${counted(subjects.all)}</small></dd></div>
${chargedRows(result).map(
  ([unit, amount]) => html`<div><dt>${unit} charged</dt><dd>${amount}</dd></div>
`,
)}</dl>
${noted(policyNotes(result))}
${requests === 0 ? '' : timeChart(result)}
${tablesOf(result).map((each) => table(policy, each))}
</section>`
}

function noted(notes: readonly string[]): Html {
  return html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`
}

function ofDifference(difference: Difference, policies: readonly PolicyResult[]): Html {
  const [first = '', second = ''] = policies.map(({ policy }) => policy)
  return html`<section>
<h2>${first} against ${second}</h2>
<dl>
<div><dt>Both refuse</dt><dd>${counted(difference.both)}</dd></div>
<div><dt>Only ${first}</dt><dd>${counted(difference.firstAlone)}</dd></div>
<div><dt>Only ${second}</dt><dd>${counted(difference.secondAlone)}</dd></div>
</dl>
${table('Both', differenceTable(difference))}
</section>`
}

/** @param of labels the table for screen readers */
function table(of: string, { caption, columns, rows }: ResultTable): Html {
  if (rows.length === 0) return html``
  const head = columns.map(({ title }) => html`<th scope="col">${title}</th>`)
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${of}: ${caption}"><table><caption>${caption}</caption>
<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}
