import type { Subject } from '@scoregw/quota'
import { type Io, painted } from '../io.ts'
import { counted, instant, percent, plain, several, table } from '../text.ts'
import { chart } from './chart.ts'
import type { Difference, LimitResult, PolicyResult, Simulation } from './result.ts'
import { SKIP_TEXTS } from './skipped.ts'

/** A simulation as text for a terminal. */
export function printed(simulation: Simulation, io: Io): string {
  const parts = [
    ofLog(simulation, io),
    ...simulation.policies.map((policy) => ofPolicy(policy, io)),
    ...(simulation.difference === undefined ? [] : [ofDifference(simulation.difference, simulation.policies, io)]),
  ]
  return parts.join('\n')
}

/** The counts of lines and requests, and of skipped lines by reason. */
function ofLog({ lines, requests, unmetered, outOfOrder, skipped, isCut, from, until }: Simulation, io: Io): string {
  const span = from === null || until === null ? '' : `, ${instant(from)} to ${instant(until)}`
  const notes = [
    ...(unmetered > 0 ? [`${several(unmetered, 'line')} not metered by the routes`] : []),
    ...(outOfOrder > 0 ? [`${several(outOfOrder, 'line')} out of order, sorted by time`] : []),
    ...(isCut ? ['more lines than --max-lines: the rest was not read'] : []),
  ]
  const text = `${several(lines, 'line')}, ${several(requests, 'request')}${span}\n`
  const remarks = notes.map((note) => `${painted(io, 'yellow', 'note')} ${note}\n`).join('')
  const reasons = skipped.reasons.map(({ reason, count, examples }) => {
    const where = examples.map(({ line }) => counted(line)).join(', ')
    const first = examples.find((each) => each.text !== '')
    const shown = first === undefined ? '' : `\n    ${painted(io, 'dim', first.text)}`
    return `${painted(io, 'yellow', 'skipped')} ${several(count, 'line')}: ${SKIP_TEXTS[reason]} (line ${where}${count > examples.length ? ' ...' : ''})${shown}\n`
  })
  return text + remarks + reasons.join('')
}

function ofPolicy(result: PolicyResult, io: Io): string {
  const { policy, requests, refused, hopeless, unknownOperations, subjects, limits, operations, refusedMost } = result
  const share = painted(
    io,
    refused > 0 ? 'red' : 'green',
    `${counted(refused)} refused (${percent(refused, requests)})`,
  )
  const head = `${painted(io, 'bold', plain(policy, 100))}: ${share} of ${several(requests, 'request')}; ${counted(subjects.refused)} of ${several(subjects.all, 'subject')} refused at least once\n`
  const notes = [
    ...(hopeless > 0 ? [`${several(hopeless, 'refusal')} cost more than a limit: waiting does not help`] : []),
    ...(unknownOperations > 0 ? [`${several(unknownOperations, 'request')} of operations that it does not have`] : []),
    ...(result.withoutConcurrency ? ['limits of concurrency are left out: a log does not say how long work took'] : []),
  ]
  const remarks = notes.map((note) => `${painted(io, 'yellow', 'note')} ${note}\n`).join('')
  const parts = [head + remarks]
  if (requests > 0) parts.push(chart(result, io))
  if (limits.length > 0) parts.push(tableOfLimits(limits, refused))
  if (operations.length > 1) parts.push(tableOfOperations(result))
  if (refusedMost.length > 0) parts.push(tableOfSubjects(result))
  return parts.join('\n')
}

function tableOfLimits(limits: readonly LimitResult[], refused: number): string {
  const columns = [
    { title: 'limit that refused' },
    { title: 'limit', align: 'right' },
    { title: 'refusals', align: 'right' },
    { title: '', align: 'right' },
    { title: 'subjects', align: 'right' },
    { title: 'first' },
    { title: 'last' },
  ] as const
  return table(
    columns,
    limits.map(({ layer, category, window, unit, limit, refusals, subjects, firstAt, lastAt }) => [
      `${layer} ${category} ${window}`,
      amountText(limit, unit),
      counted(refusals),
      percent(refusals, refused),
      counted(subjects),
      instant(firstAt),
      instant(lastAt),
    ]),
  )
}

function tableOfOperations({ operations }: PolicyResult): string {
  const columns = [
    { title: 'operation' },
    { title: 'requests', align: 'right' },
    { title: 'refused', align: 'right' },
    { title: '', align: 'right' },
  ] as const
  return table(
    columns,
    operations.map(({ operation, requests, refused }) => [
      operation,
      counted(requests),
      counted(refused),
      percent(refused, requests),
    ]),
  )
}

function tableOfSubjects({ refusedMost }: PolicyResult): string {
  const columns = [
    { title: 'refused most' },
    { title: 'requests', align: 'right' },
    { title: 'refused', align: 'right' },
    { title: '', align: 'right' },
    { title: 'first refusal' },
  ] as const
  return table(
    columns,
    refusedMost.map(({ subject, requests, refused, firstRefusedAt }) => [
      subjectText(subject),
      counted(requests),
      counted(refused),
      percent(refused, requests),
      instant(firstRefusedAt),
    ]),
  )
}

function ofDifference(
  { both, firstAlone, secondAlone, subjects }: Difference,
  policies: readonly PolicyResult[],
  io: Io,
): string {
  const [first = '', second = ''] = policies.map(({ policy }) => plain(policy, 60))
  const head = `${painted(io, 'bold', `${first} against ${second}`)}: both refuse ${counted(both)}, only the first ${counted(firstAlone)}, only the second ${counted(secondAlone)}\n`
  if (subjects.length === 0) return head
  const columns = [
    { title: 'subjects that fare otherwise' },
    { title: 'refused by the first', align: 'right' },
    { title: 'by the second', align: 'right' },
  ] as const
  const rows = subjects.map((each) => [subjectText(each.subject), counted(each.first), counted(each.second)])
  return `${head}\n${table(columns, rows)}`
}

/** An amount, with its unit if policies count several. */
export function amountText(amount: number, unit = ''): string {
  return `${counted(amount)} ${unit}`.trimEnd()
}

/** A subject on one line. */
export function subjectText(subject: Subject): string {
  if (typeof subject === 'string') return plain(subject)
  return plain(
    Object.entries(subject)
      .map(([layer, key]) => `${layer}=${key}`)
      .join(' '),
  )
}
