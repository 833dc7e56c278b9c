import type { Subject } from '@scoregw/quota'
import { counted, instant, percent, plain, several } from '../text.ts'
import type { Difference, PolicyResult, Simulation } from './result.ts'

/** The counts of lines and requests, and the log's span of time. */
export function logCounts({ lines, requests, from, until }: Simulation): string {
  const span = from === null || until === null ? '' : `, ${instant(from)} to ${instant(until)}`
  return `${several(lines, 'line')}, ${several(requests, 'request')}${span}`
}

export function logNotes({ unmetered, outOfOrder, isCut }: Simulation): string[] {
  return [
    ...(unmetered > 0 ? [`${several(unmetered, 'line')} not metered by the routes`] : []),
    ...(outOfOrder > 0 ? [`${several(outOfOrder, 'line')} out of order, sorted by time`] : []),
    ...(isCut ? ['more lines than --max-lines: the rest was not read'] : []),
  ]
}

export function policyNotes({ hopeless, unknownOperations, withoutConcurrency }: PolicyResult): string[] {
  return [
    ...(hopeless > 0 ? [`${several(hopeless, 'refusal')} cost more than a limit: waiting does not help`] : []),
    ...(unknownOperations > 0 ? [`${several(unknownOperations, 'request')} of operations that it does not have`] : []),
    ...(withoutConcurrency ? ['limits of concurrency are left out: a log does not say how long work took'] : []),
  ]
}

/** Limit, its value, refusals, their share, subjects, first and last refusal. */
export function limitRows({ limits, refused }: PolicyResult): string[][] {
  return limits.map(({ layer, category, window, unit = '', limit, refusals, subjects, firstAt, lastAt }) => [
    `${layer} ${category} ${window}`,
    // With its unit if policies count several.
    `${counted(limit)} ${unit}`.trimEnd(),
    counted(refusals),
    percent(refusals, refused),
    counted(subjects),
    instant(firstAt),
    instant(lastAt),
  ])
}

/** Operation, requests, refusals, their share. */
export function operationRows({ operations }: PolicyResult): string[][] {
  return operations.map(({ operation, ...counts }) => [operation, ...refusedOf(counts)])
}

/** Subject, requests, refusals, their share, first refusal. */
export function subjectRows({ refusedMost }: PolicyResult): string[][] {
  return refusedMost.map((each) => [subjectText(each.subject), ...refusedOf(each), instant(each.firstRefusedAt)])
}

/** Subject, refusals by the first policy, and by the second. */
export function differenceRows({ subjects }: Difference): string[][] {
  return subjects.map((each) => [subjectText(each.subject), counted(each.first), counted(each.second)])
}

function refusedOf({ requests, refused }: { readonly requests: number; readonly refused: number }): string[] {
  return [counted(requests), counted(refused), percent(refused, requests)]
}

/** A subject on one line. */
function subjectText(subject: Subject): string {
  if (typeof subject === 'string') return plain(subject)
  return plain(
    Object.entries(subject)
      .map(([layer, key]) => `${layer}=${key}`)
      .join(' '),
  )
}
