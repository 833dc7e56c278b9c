import { type Io, painted } from '../io.ts'
import { type Column, counted, percent, plain, several, table } from '../text.ts'
import { chart } from './chart.ts'
import type { Difference, PolicyResult, Simulation } from './result.ts'
import { differenceRows, limitRows, logCounts, logNotes, operationRows, policyNotes, subjectRows } from './rows.ts'
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
function ofLog(simulation: Simulation, io: Io): string {
  const reasons = simulation.skipped.reasons.map(({ reason, count, examples }) => {
    const where = examples.map(({ line }) => counted(line)).join(', ')
    const first = examples.find((each) => each.text !== '')
    const shown = first === undefined ? '' : `\n    ${painted(io, 'dim', first.text)}`
    return `${painted(io, 'yellow', 'skipped')} ${several(count, 'line')}: ${SKIP_TEXTS[reason]} (line ${where}${count > examples.length ? ' ...' : ''})${shown}\n`
  })
  return `${logCounts(simulation)}\n${remarks(logNotes(simulation), io)}${reasons.join('')}`
}

function remarks(notes: readonly string[], io: Io): string {
  return notes.map((note) => `${painted(io, 'yellow', 'note')} ${note}\n`).join('')
}

function ofPolicy(result: PolicyResult, io: Io): string {
  const { policy, requests, refused, subjects, limits, operations, refusedMost } = result
  const share = painted(
    io,
    refused > 0 ? 'red' : 'green',
    `${counted(refused)} refused (${percent(refused, requests)})`,
  )
  const head = `${painted(io, 'bold', plain(policy, 100))}: ${share} of ${several(requests, 'request')}; ${counted(subjects.refused)} of ${several(subjects.all, 'subject')} refused at least once\n`
  const parts = [head + remarks(policyNotes(result), io)]
  if (requests > 0) parts.push(chart(result, io))
  if (limits.length > 0) parts.push(table(OF_LIMITS, limitRows(result)))
  if (operations.length > 1) parts.push(table(OF_OPERATIONS, operationRows(result)))
  if (refusedMost.length > 0) parts.push(table(OF_SUBJECTS, subjectRows(result)))
  return parts.join('\n')
}

const SHARE: Column = { title: '', align: 'right' }
const REFUSED: readonly Column[] = [{ title: 'requests', align: 'right' }, { title: 'refused', align: 'right' }, SHARE]

const OF_LIMITS: readonly Column[] = [
  { title: 'limit that refused' },
  { title: 'limit', align: 'right' },
  { title: 'refusals', align: 'right' },
  SHARE,
  { title: 'subjects', align: 'right' },
  { title: 'first' },
  { title: 'last' },
]
const OF_OPERATIONS: readonly Column[] = [{ title: 'operation' }, ...REFUSED]
const OF_SUBJECTS: readonly Column[] = [{ title: 'refused most' }, ...REFUSED, { title: 'first refusal' }]

const OF_DIFFERENCE: readonly Column[] = [
  { title: 'subjects that fare otherwise' },
  { title: 'refused by the first', align: 'right' },
  { title: 'by the second', align: 'right' },
]

function ofDifference(difference: Difference, policies: readonly PolicyResult[], io: Io): string {
  const { both, firstAlone, secondAlone, subjects } = difference
  const [first = '', second = ''] = policies.map(({ policy }) => plain(policy, 60))
  const head = `${painted(io, 'bold', `${first} against ${second}`)}: both refuse ${counted(both)}, only the first ${counted(firstAlone)}, only the second ${counted(secondAlone)}\n`
  return subjects.length === 0 ? head : `${head}\n${table(OF_DIFFERENCE, differenceRows(difference))}`
}
