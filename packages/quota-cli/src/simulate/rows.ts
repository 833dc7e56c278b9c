import type { Subject } from '@scoregw/quota'
import { ofUnit } from '@scoregw/quota/internal'
import { amountText, unitName, unitOf } from '../amounts.ts'
import { type Column, counted, instant, percent, plain, several } from '../text.ts'
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

export function policyNotes({ hopeless, undecided, withoutConcurrency }: PolicyResult): string[] {
  return [
    ...(hopeless > 0 ? [`${several(hopeless, 'refusal')} cost more than a limit: waiting does not help`] : []),
    ...(undecided > 0
      ? [`${several(undecided, 'request')} that it can't decide: of other operations, or without a key`]
      : []),
    ...(withoutConcurrency ? ['limits of concurrency are left out: a log does not say how long work took'] : []),
  ]
}

/** A table of a report. */
export interface ResultTable {
  readonly caption: string
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly string[])[]
}

function right(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, align: 'right' }))
}

/** What refused, what was asked for, and who was refused most. Tables without a row are left out. */
export function tablesOf(result: PolicyResult): ResultTable[] {
  const counts = right('requests', 'refused', 'share')
  const refusals = [...right('limit', 'refusals', 'share', 'subjects'), { title: 'first' }, { title: 'last' }]
  const tables = [
    { caption: 'Limits', columns: [{ title: 'limit that refused' }, ...refusals], rows: limitRows(result) },
    { caption: 'Operations', columns: [{ title: 'operation' }, ...counts], rows: operationRows(result) },
    {
      caption: 'Subjects',
      columns: [{ title: 'refused most' }, ...counts, { title: 'first refusal' }],
      rows: subjectRows(result),
    },
  ]
  return tables.filter(({ rows }) => rows.length > 0)
}

function limitRows({ units, limits, refused }: PolicyResult): string[][] {
  return limits.map(({ name, unit, limit, refusals, subjects, firstAt, lastAt }) => [
    name,
    // With its unit if the policy counts several.
    `${amountText(unitOf({ units }, unit), limit)}${units.length > 1 ? ` ${unit}` : ''}`,
    counted(refusals),
    percent(refusals, refused),
    counted(subjects),
    instant(firstAt),
    instant(lastAt),
  ])
}

/** What was charged, by unit. */
export function chargedRows({ units, cost }: PolicyResult): (readonly [unit: string, amount: string])[] {
  return units.map((unit) => [unitName(unit), amountText(unit, ofUnit(cost.charged, unitName(unit)))])
}

function operationRows({ operations }: PolicyResult): string[][] {
  if (operations.length < 2) return []
  return operations.map(({ operation, ...counts }) => [operation, ...refusedOf(counts)])
}

function subjectRows({ refusedMost }: PolicyResult): string[][] {
  return refusedMost.map((each) => [subjectText(each.subject), ...refusedOf(each), instant(each.firstRefusedAt)])
}

/** The subjects that two policies treat differently. */
export function differenceTable({ subjects }: Difference): ResultTable {
  return {
    caption: 'Subjects that fare otherwise',
    columns: [{ title: 'subjects that fare otherwise' }, ...right('refused by the first', 'by the second')],
    rows: subjects.map((each) => [subjectText(each.subject), counted(each.first), counted(each.second)]),
  }
}

function refusedOf({ requests, refused }: { readonly requests: number; readonly refused: number }): string[] {
  return [counted(requests), counted(refused), percent(refused, requests)]
}

/** A subject on one line. */
function subjectText(subject: Subject): string {
  if (typeof subject === 'string') return plain(subject)
  return plain(
    Object.entries(subject)
      .map(([layer, key]) => `${layer}=${key ?? '-'}`)
      .join(' '),
  )
}
