import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import canonicalize from 'canonicalize'
import * as z from 'zod'
import { type ChartKey, chartText } from '../charts/chart.ts'
import { type Detail, invalid } from '../http/http-error.ts'
import type { PlayRecord } from '../scores/score.ts'
import { fishRecord } from '../sources/diving-fish.ts'
import { fields, playOf } from '../sources/records.ts'

/** How many records are checked before other requests get a turn: a few milliseconds. */
const SLICE = 50

/** A skipped record, and the reason. */
export interface RecordFault extends Detail {
  /** Its place in the request, from 0. */
  readonly index: number
}

/** A request's records, parsed. */
export interface SyncRecords {
  /** Each chart appears once. */
  readonly plays: readonly PlayRecord[]
  readonly faults: readonly RecordFault[]
  /** Charts that faulty records name, each once. The snapshot contains them, with unknown values. */
  readonly faultyCharts: readonly ChartKey[]
  /** `sha256:` and hexadecimal digits, over the canonical JSON (RFC 8785) of the records. */
  readonly checksum: string
}

/**
 * Parses records one by one, in slices that let other requests take turns. A faulty record doesn't affect the others.
 */
export async function readSyncRecords(records: readonly unknown[]): Promise<SyncRecords> {
  const hash = createHash('sha256').update('[')
  const plays = new Map<string, { readonly play: PlayRecord; readonly index: number }>()
  const faults: RecordFault[] = []
  const faultyCharts = new Map<string, ChartKey>()
  for (const [index, record] of records.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate()
    hash.update(`${index === 0 ? '' : ','}${canonicalRecord(record, index)}`)
    const result = fishRecord.safeParse(record)
    if (!result.success) {
      faults.push(faultOf(result.error, index))
      const chart = chartNamedBy(record)
      if (chart !== undefined) faultyCharts.set(chartText(chart), chart)
      continue
    }
    const key = chartText(result.data)
    const earlier = plays.get(key)
    if (earlier === undefined) plays.set(key, { play: result.data, index })
    else faults.push({ index, path: `records.${index}`, msg: `the same chart as record ${earlier.index}` })
  }
  const checksum = `sha256:${hash.update(']').digest('hex')}`
  return {
    plays: [...plays.values()].map(({ play }) => play),
    faults,
    faultyCharts: [...faultyCharts.values()],
    checksum,
  }
}

/** JSON that RFC 8785 cannot express, such as half of a surrogate pair, is a fault of the request. */
function canonicalRecord(record: unknown, index: number): string {
  try {
    return canonicalize(record) ?? 'null'
  } catch (cause) {
    const msg = `has no canonical JSON: ${cause instanceof RangeError ? 'nested too deep' : (cause as Error).message}`
    throw invalid([{ path: `records.${index}`, msg }])
  }
}

const chartNamed = z.object({ song_id: z.int().min(1).max(999_999), level_index: fields.levelIndex })

function chartNamedBy(record: unknown): ChartKey | undefined {
  const { data } = chartNamed.safeParse(record)
  if (data === undefined) return undefined
  const { song_id: musicId, level_index: levelIndex } = data
  const { level } = playOf({ musicId, levelIndex, achievement: 0, dxScore: 0, comboStatus: 0, syncStatus: 0 })
  return { musicId, level }
}

function faultOf({ issues: [issue] }: z.ZodError, index: number): RecordFault {
  const path = ['records', index, ...(issue?.path ?? [])].map(String).join('.')
  return { index, path, msg: issue?.message ?? 'not valid' }
}
