import { ofUnit } from '@scoregw/quota/store'
import { counted, instant, percent, several } from '../text.ts'
import { type Html, html } from './html.ts'
import { amountText, subjectText } from './print.ts'
import { STYLE } from './report-style.ts'
import type { Difference, PolicyResult, Simulation } from './result.ts'
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

function ofLog({ logs, lines, requests, unmetered, outOfOrder, skipped, isCut, from, until }: Simulation): Html {
  const span = from === null || until === null ? '' : `, ${instant(from)} to ${instant(until)}`
  const notes = [
    ...(unmetered > 0 ? [html`<li>${several(unmetered, 'line')} not metered by the routes</li>`] : []),
    ...(outOfOrder > 0 ? [html`<li>${several(outOfOrder, 'line')} out of order, sorted by time</li>`] : []),
    ...(isCut ? [html`<li>more lines than --max-lines: the rest was not read</li>`] : []),
    ...skipped.reasons.map(
      ({ reason, count, examples }) =>
        html`<li>skipped ${several(count, 'line')}: ${SKIP_TEXTS[reason]} (line ${examples.map(({ line }) => line).join(', ')})</li>`,
    ),
  ]
  return html`<p>${logs.join(', ')}: ${several(lines, 'line')}, ${several(requests, 'request')}${span}</p>
<ul class="notes">${notes}</ul>`
}

function ofPolicy(result: PolicyResult): Html {
  const { policy, units, requests, refused, subjects, limits, operations, refusedMost, tokens, cost } = result
  const charged = units.map((unit) => [unit, ofUnit(tokens?.charged ?? cost?.charged ?? 0, unit)] as const)
  return html`<section>
<h2>${policy}</h2>
<dl>
<div><dt>Requests</dt><dd>${counted(requests)}</dd></div>
<div><dt>Refused</dt><dd>${counted(refused)} <small>${percent(refused, requests)}</small></dd></div>
<div><dt>Subjects refused</dt><dd>${counted(subjects.refused)} <small>of ${counted(subjects.all)}</small></dd></div>
${charged.map(
  ([unit, amount]) => html`<div><dt>${unit} charged</dt><dd>${counted(amount)}</dd></div>
`,
)}</dl>
${noted(result)}
${requests === 0 ? '' : timeChart(result)}
${table(
  policy,
  'Limits that refused',
  ['What refused', 'Limit', 'Refusals', 'Share', 'Subjects', 'First', 'Last'],
  limits.map((each) => [
    `${each.layer} ${each.category} ${each.window}`,
    amountText(each.limit, each.unit),
    counted(each.refusals),
    percent(each.refusals, refused),
    counted(each.subjects),
    instant(each.firstAt),
    instant(each.lastAt),
  ]),
)}
${table(
  policy,
  'Operations',
  ['Operation', 'Requests', 'Refused', 'Share'],
  operations.map((each) => [
    each.operation,
    counted(each.requests),
    counted(each.refused),
    percent(each.refused, each.requests),
  ]),
)}
${table(
  policy,
  'Refused most',
  ['Subject', 'Requests', 'Refused', 'Share', 'First refusal'],
  refusedMost.map((each) => [
    subjectText(each.subject),
    counted(each.requests),
    counted(each.refused),
    percent(each.refused, each.requests),
    instant(each.firstRefusedAt),
  ]),
)}
</section>`
}

function noted({ hopeless, unknownOperations, withoutConcurrency }: PolicyResult): Html {
  const notes = [
    ...(hopeless > 0 ? [`${several(hopeless, 'refusal')} cost more than a limit: waiting does not help`] : []),
    ...(unknownOperations > 0 ? [`${several(unknownOperations, 'request')} of operations that it does not have`] : []),
    ...(withoutConcurrency ? ['limits of concurrency are left out: a log does not say how long work took'] : []),
  ]
  return html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`
}

function ofDifference(
  { both, firstAlone, secondAlone, subjects }: Difference,
  policies: readonly PolicyResult[],
): Html {
  const [first = '', second = ''] = policies.map(({ policy }) => policy)
  return html`<section>
<h2>${first} against ${second}</h2>
<dl>
<div><dt>Both refuse</dt><dd>${counted(both)}</dd></div>
<div><dt>Only ${first}</dt><dd>${counted(firstAlone)}</dd></div>
<div><dt>Only ${second}</dt><dd>${counted(secondAlone)}</dd></div>
</dl>
${table(
  'Both',
  'Subjects that fare otherwise',
  ['Subject', `Refused by ${first}`, `By ${second}`],
  subjects.map((each) => [subjectText(each.subject), counted(each.first), counted(each.second)]),
)}
</section>`
}

/** @param of labels the table for screen readers */
function table(of: string, caption: string, titles: readonly string[], rows: readonly (readonly string[])[]): Html {
  if (rows.length === 0) return html``
  const head = titles.map((title) => html`<th scope="col">${title}</th>`)
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${of}: ${caption}"><table><caption>${caption}</caption>
<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}
