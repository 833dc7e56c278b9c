import { type CellSchema, GRACE_MS, MAX_AHEAD_MS } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import { raise, revisionIn } from './statements.ts'

/** What a statement is made for. */
export interface AddShape {
  readonly cells: readonly CellSchema[]
  /** Whether takes have several rows of their own, and need all of them. */
  readonly isGrouped: boolean
  /** How many rows they share. */
  readonly shared: number
}

/**
 * Values of each row that is added to: its key; a group, of which all rows are added to or none (0: it stands alone); then by
 * cell the amount to add (-1: nothing), the least limit of those who add, and of a calendar cell the start of a period,
 * its end and the end of the next; of a bucket how many tokens come back in half its length (0: none do).
 */
export type AddedValues = readonly (string | number)[]

/** Values that come before those of rows. */
const FIRST = 9

/**
 * Adds to rows in one statement, each guarded by itself: it has room for all that is added, and its cells are open or open
 * now. Rows that are not there are made. What the rows of subjects took is then added to the rows that they share; where
 * one of those has no room any more, nothing was done.
 *
 * Rows are found one after the other by their keys, in the order of the values, whatever the server knows of the table: an
 * upsert leaves it no other plan. So all processes lock in one order.
 *
 * The guard reads the amount to add from the row that would be inserted: cells as `[start if it opens now, sum]`, the
 * least limits and the rates of buckets, and in `ends_at` the instant and {@link AddShape}'s longest length.
 *
 * Values: 1 layout, 2 revision (null: any), 3 lock timeout with its unit, 4 deadline in ms, 5 instant (null: the server's),
 * 6 fence, 7 number of the statement, 8 and 9 first and last of the rows whose sums are what shared rows take; then the columns
 * of subjects' rows, then the values of each shared row, whose sums are those of all. Row: instant; the cells of subjects' rows that
 * were added to; those of shared rows; the keys of subjects' rows where not all of them were added to.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one statement, read from top to bottom
export function addStatement({ cells, isGrouped, shared: sharedCount }: AddShape, tables: TableNames): string {
  const { rows, settings, fences } = tables
  const width = cells.filter(({ kind }) => kind !== 'concurrency').length
  const columns = cells.slice(0, width).map(({ kind }, c) => {
    if (kind === 'bucket') return [`s${c}`, `m${c}`, `v${c}`]
    const more = kind === 'calendar' ? [`p${c}`, `q${c}`, `r${c}`] : []
    return [`s${c}`, `m${c}`, ...more]
  })
  const count = 2 + columns.flat().length
  const list = (make: (c: number) => string, by = ', '): string => columns.map((_, c) => make(c)).join(by)
  const names = ['grp', ...columns.flat()]
  const types = ['int', ...columns.flat().map(() => 'bigint')]
  // One function makes the rows: each takes longer to begin than all of them to end. The server does not look at values that a
  // query gives, so that after a few plans for the values at hand one plan for all values costs no more, and stays.
  const own = `(select k.key, k.place, ${names.map((name, at) => `($${FIRST + 2 + at}::${types[at]}[])[k.place] as ${name}`)}
    from unnest((select $${FIRST + 1}::text[])) with ordinality as k(key, place)) a`
  const sharedRows = Array.from({ length: sharedCount }, (_, row) => {
    const first = FIRST + 1 + count * (row + 1)
    return `($${first}::text, ${row}, ${names.map((_, at) => `$${first + 1 + at}::${types[at]}`)})`
  })
  const shared = sharedCount === 0 ? undefined : `(values ${sharedRows}) as a(key, place, ${names})`
  const buckets = cells.flatMap(({ kind }, c) => (kind === 'bucket' ? [c] : []))
  const isCalendar = (c: number): boolean => cells[c]!.kind === 'calendar'
  const opensAt = (c: number): string =>
    isCalendar(c) ? `case when n.now < a.q${c} then a.p${c} else a.q${c} end` : 'n.now'
  const inPeriods = list((c) => (isCalendar(c) ? ` and (a.s${c} < 0 or n.now >= a.p${c} and n.now < a.r${c})` : ''), '')
  const longest = Math.max(...cells.slice(0, width).map(({ lengthMs }) => lengthMs)) + GRACE_MS

  /** A row against the amounts to add to it. */
  const cell = (added: Added, c: number) => {
    const [sum, opening, limit] = [added.sum(c), added.opensAt(c), added.limit(c)]
    const [start, used] = [`r.cells[${2 * c + 1}]`, `r.cells[${2 * c + 2}]`]
    const isOpen = `${start} > ${opening} - ${isCalendar(c) ? 1 : cells[c]!.lengthMs}`
    if (buckets.includes(c)) return bucketCell(added, c, { start, used, isOpen, lengthMs: cells[c]!.lengthMs })
    return {
      fits: `(${sum} < 0 or ${used} >= 0 and ${start} <= ${added.now} + ${MAX_AHEAD_MS}
        and case when ${isOpen} then ${used} else 0 end + ${sum} <= ${limit})`,
      start: `case when ${sum} < 0 or ${isOpen} then ${start} else greatest(${opening}, ${start} + 1) end`,
      used: `case when ${sum} < 0 then ${used} when ${isOpen} then ${used} + ${sum} else ${sum} end`,
    }
  }
  const fits = (added: Added): string =>
    `r.layout = $1 and cardinality(r.cells) = ${2 * cells.length} and ${list((c) => cell(added, c).fits, ' and ')}`
  const excluded: Added = {
    sum: (c) => `excluded.cells[${2 * c + 2}]`,
    opensAt: (c) => `excluded.cells[${2 * c + 1}]`,
    limit: (c) => `excluded.limits[${c + 1}]`,
    rate: (c) => `excluded.limits[${width + buckets.indexOf(c) + 1}]`,
    now: `(excluded.ends_at - ${longest})`,
  }
  const slots = width === cells.length ? '' : `, r.cells[${2 * width + 1}], r.cells[${2 * width + 2}]`
  const ends = list((c) => `${cell(excluded, c).start} + ${cells[c]!.lengthMs + GRACE_MS} - r.ends_at`)
  const upsert = (source: string, sum: (c: number) => string, where: string): string =>
    `insert into ${rows} as r (key, layout, cells, ends_at, limits)
      select a.key, $1::bigint, array[${list((c) => `case when ${sum(c)} < 0 then -1 else ${opensAt(c)} end, ${sum(c)}`)}${
        slots === '' ? '' : ', -1, -1'
      }]::bigint[], n.now + ${longest}, array[${[list((c) => `a.m${c}`), ...buckets.map((c) => `a.v${c}`)].join(', ')}]
      from ${source} where ${where}${inPeriods} order by a.place
      on conflict (key) do update set limits = null,
        cells = array[${list((c) => `${cell(excluded, c).start}, ${cell(excluded, c).used}`)}${slots}],
        ends_at = r.ends_at + greatest(0, ${ends})
      where ${fits(excluded)} returning r.key, r.cells::text as cells`
  const asked: Added = { sum: (c) => `a.s${c}`, opensAt, limit: (c) => `a.m${c}`, rate: (c) => `a.v${c}`, now: 'n.now' }
  const misfits = (source: string): string => `now n, ${source} join ${rows} r on r.key = a.key
    where (${fits(asked)}) is not true`
  const isGood = isGrouped ? ' and a.grp <> all (array(select grp from bad))' : ''
  const isAll = `o.n = cardinality($${FIRST + 1}::text[])`
  const total = (c: number): string => `case when ${isAll} then a.s${c} else (select s${c} from part) end`
  const parts = [
    `now as materialized (select set_config('lock_timeout', $3, true) as waits, ${revisionIn(settings)} as revision,
      coalesce($5::bigint, floor(date_part('epoch', statement_timestamp()) * 1000)::bigint) as now)`,
    ...(isGrouped ? [`bad as materialized (select distinct a.grp from ${misfits(own)})`] : []),
    `own as (${upsert(
      `now n, ${own}`,
      (c) => `a.s${c}`,
      `($2::text is null or $2 = n.revision)${shared === undefined ? '' : ` and not exists (select from ${misfits(shared)})`}${isGood}`,
    )})`,
    `o as materialized (select count(*) as n, string_agg(cells, '') as cells from own)`,
    ...(shared === undefined
      ? []
      : [
          `part as (select ${list((c) => `coalesce(sum(a.s${c}) filter (where a.s${c} > 0), -1)::bigint as s${c}`)}
            from own join ${own} on a.key = own.key where a.place between $8::int and $9::int)`,
          `other as (${upsert(`now n, o, ${shared}`, total, 'o.n > 0')})`,
        ]),
    `fence as (${raise(
      fences,
      `select $6, $7::bigint, n.now, 0, case when ${isAll} then null else
      (select json_agg(key)::text from own) end from now n, o where o.n > 0`,
    )})`,
  ]
  const conditions = [
    'exists (select from fence)',
    "clock_timestamp() < statement_timestamp() + $4::int * interval '1 ms'",
    ...(shared === undefined ? [] : [`(select count(*) from other) = ${sharedCount}`]),
    ...(isGrouped ? [`o.n = (select count(*) from ${own} where true${isGood})`] : []),
  ]
  return `with ${parts.join(',\n')}
    select n.now, o.cells, ${shared === undefined ? 'null' : "(select string_agg(cells, '') from other)"},
      (select keys from fence),
      1 / (o.n = 0 or ${conditions.join(' and ')})::int
    from now n, o${shared === undefined ? ' where $8::int <= $9::int' : ''}`
}

/** The name in a statement of the amounts to add to a row. */
interface Added {
  readonly sum: (cell: number) => string
  /** The start of a cell that opens now. */
  readonly opensAt: (cell: number) => string
  readonly limit: (cell: number) => string
  /** How many tokens come back to a bucket. */
  readonly rate: (cell: number) => string
  readonly now: string
}

/** A bucket against the amount to add to it. Products may be above a bigint: so they are of the type `numeric`. */
function bucketCell(
  added: Added,
  c: number,
  { start, used, isOpen, lengthMs }: { start: string; used: string; isOpen: string; lengthMs: number },
) {
  const [sum, rate, age, perMs] = [added.sum(c), added.rate(c), `(${added.now} - ${start})`, lengthMs / 2]
  const back = `div(least(greatest(${age}, 0), ${lengthMs})::numeric * ${rate}, ${perMs})::bigint`
  const goesOn = `(${isOpen} and (${rate} = 0 or ${age} <= 0 or ${back} < ${used}))`
  const isOld = `${rate} > 0 and ${age} >= ${perMs}`
  return {
    fits: `(${sum} < 0 or ${used} >= 0 and ${start} <= ${added.now} + ${MAX_AHEAD_MS}
      and case when ${goesOn} then ${used} - ${back} else 0 end + ${sum} <= ${added.limit(c)})`,
    start: `case when ${sum} < 0 then ${start} when not ${goesOn} then greatest(${added.opensAt(c)}, ${start} + 1)
      when ${isOld} then ${start} + ${perMs} else ${start} end`,
    used: `case when ${sum} < 0 then ${used} when not ${goesOn} then ${sum}
      when ${isOld} then ${used} - ${rate} + ${sum} else ${used} + ${sum} end`,
  }
}
