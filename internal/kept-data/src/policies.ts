import { type Counting, definePolicy, type Policy } from '@scoregw/quota'

const CATEGORIES = ['reads', 'writes'] as const
const LAYERS = [{ name: 'person' }, { name: 'site', shared: true }] as const
const CONCURRENCY = { label: 'running', operations: ['export'] } as const
const MONTH = { label: 'month', every: 'month', timeZone: 'Asia/Shanghai' } as const

/** A policy of the history: operations `read` (1 token), `write` (5) and `export` (10, a slot, `overrun: 'charge'`). */
export type HistoryPolicy = Policy<'read' | 'write' | 'export', Counting>

/** One unit: two rolling windows, a calendar window, and slots. */
const one = definePolicy({
  windows: [{ label: 'hour', per: '1h' }, { label: 'day', per: '1d' }, MONTH],
  categories: CATEGORIES,
  layers: LAYERS,
  concurrency: CONCURRENCY,
  operations: {
    read: { category: 'reads', cost: 1 },
    write: { category: 'writes', cost: 5 },
    export: { category: 'writes', cost: 10, overrun: 'charge', maxOverrun: 30 },
  },
  base: {
    person: {
      reads: { hour: 50, day: 100, month: 1_000 },
      writes: { hour: 100, day: 300, month: 2_000, running: 2 },
    },
    site: {
      reads: { hour: 5_000, day: 10_000, month: 100_000 },
      writes: { hour: 10_000, day: 30_000, month: 200_000 },
    },
  },
})

/** Two units. */
const units = definePolicy({
  units: ['calls', 'tokens'],
  windows: [
    { label: 'calls', per: '1h', unit: 'calls' },
    { label: 'hour', per: '1h', unit: 'tokens' },
    { ...MONTH, unit: 'tokens' },
  ],
  categories: CATEGORIES,
  layers: LAYERS,
  concurrency: CONCURRENCY,
  operations: {
    read: { category: 'reads', cost: { calls: 1, tokens: 1 } },
    write: { category: 'writes', cost: { calls: 1, tokens: 5 } },
    export: {
      category: 'writes',
      cost: { calls: 1, tokens: 10 },
      overrun: 'charge',
      maxOverrun: { calls: 0, tokens: 30 },
    },
  },
  base: {
    person: {
      reads: { calls: 20, hour: 50, month: 1_000 },
      writes: { calls: 20, hour: 100, month: 2_000, running: 2 },
    },
    site: {
      reads: { calls: 2_000, hour: 5_000, month: 100_000 },
      writes: { calls: 2_000, hour: 10_000, month: 200_000 },
    },
  },
})

/** The policies of the history. Their names keep their counters apart. */
export const POLICIES: Readonly<Record<'one' | 'units', HistoryPolicy>> = { one, units }
