import { type Io, painted } from '../io.ts'
import { counted, percent, plain, several, table } from '../text.ts'
import { chart } from './chart.ts'
import type { Difference, PolicyResult, Simulation } from './result.ts'
import { differenceTable, logCounts, logNotes, policyNotes, type ResultTable, tablesOf } from './rows.ts'
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
  const { policy, requests, refused, subjects } = result
  const share = painted(
    io,
    refused > 0 ? 'red' : 'green',
    `${counted(refused)} refused (${percent(refused, requests)})`,
  )
  const head = `${painted(io, 'bold', plain(policy, 100))}: ${share} of ${several(requests, 'request')}; ${counted(subjects.refused)} of ${several(subjects.all, 'subject')} refused at least once\n`
  const bars = requests > 0 ? [chart(result, io)] : []
  return [head + remarks(policyNotes(result), io), ...bars, ...tablesOf(result).map(printedTable)].join('\n')
}

function printedTable({ columns, rows }: ResultTable): string {
  return table(columns, rows)
}

function ofDifference(difference: Difference, policies: readonly PolicyResult[], io: Io): string {
  const { both, firstAlone, secondAlone, subjects } = difference
  const [first = '', second = ''] = policies.map(({ policy }) => plain(policy, 60))
  const head = `${painted(io, 'bold', `${first} against ${second}`)}: both refuse ${counted(both)}, only the first ${counted(firstAlone)}, only the second ${counted(secondAlone)}\n`
  return subjects.length === 0 ? head : `${head}\n${printedTable(differenceTable(difference))}`
}
