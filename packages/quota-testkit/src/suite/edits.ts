import type { LayerSchema, RollingWindow, StoreSchema } from '@scoregw/quota/store'
import { DAY_MS, HOUR_MS, rollingCells, SIX_WINDOWS } from './probe.ts'

/** A policy before and after an edit, as counters know it. */
export interface Edit {
  readonly name: string
  readonly before: StoreSchema
  readonly after: StoreSchema
  /** Whether own layers go from one to several. */
  readonly regroups?: boolean
}

/** The edited policy: three windows, two categories, two layers. */
const BEFORE: StoreSchema = {
  ...SIX_WINDOWS,
  layers: [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
}
const HOUR = { label: '1h', lengthMs: HOUR_MS }
const FIVE_HOURS = { label: '5h', lengthMs: 5 * HOUR_MS }
const DAY = { label: '1d', lengthMs: DAY_MS }
const [PERSONAL, SITE] = BEFORE.layers as [LayerSchema, LayerSchema]

/** A schema with other windows. */
export function withWindows(schema: StoreSchema, windows: readonly RollingWindow[]): StoreSchema {
  return { ...schema, cells: rollingCells(...windows) }
}

function windows(name: string, ...after: RollingWindow[]): Edit {
  return { name, before: BEFORE, after: withWindows(BEFORE, after) }
}

function layers(name: string, ...after: LayerSchema[]): Edit {
  const regroups = after.filter(({ shared }) => !shared).length > 1
  return { name, before: BEFORE, after: { ...BEFORE, layers: after }, regroups }
}

function categories(name: string, ...after: string[]): Edit {
  return { name, before: BEFORE, after: { ...BEFORE, categories: after } }
}

const TEAM: LayerSchema = { name: 'team', shared: false }
const ALL: LayerSchema = { name: 'all', shared: true }

/** What people do to a policy that is in use. */
export const EDITS: readonly Edit[] = [
  windows('a window is added, the shortest', { label: '10m', lengthMs: 600_000 }, HOUR, FIVE_HOURS, DAY),
  windows('a window is added, in the middle', HOUR, { label: '3h', lengthMs: 3 * HOUR_MS }, FIVE_HOURS, DAY),
  windows('a window is added, the longest', HOUR, FIVE_HOURS, DAY, { label: '7d', lengthMs: 7 * DAY_MS }),
  windows('a window is added, as long as another', HOUR, { label: '60m', lengthMs: HOUR_MS }, FIVE_HOURS, DAY),
  windows('the shortest window is removed', FIVE_HOURS, DAY),
  windows('the longest window is removed', HOUR, FIVE_HOURS),
  windows('a window becomes longer', { ...HOUR, lengthMs: 2 * HOUR_MS }, FIVE_HOURS, DAY),
  windows('a window becomes shorter than another', HOUR, FIVE_HOURS, { ...DAY, lengthMs: 2 * HOUR_MS }),
  windows('a window gets another label', HOUR, { ...FIVE_HOURS, label: 'shift' }, DAY),
  windows('two windows change labels', { ...FIVE_HOURS, label: '1h' }, { ...HOUR, label: '5h' }, DAY),
  windows('all windows are others', { label: '2h', lengthMs: 2 * HOUR_MS }),
  layers('a shared layer is added in front', ALL, PERSONAL, SITE),
  layers('a layer of teams is added', PERSONAL, TEAM, SITE),
  layers('the shared layer is removed', PERSONAL),
  layers('layers change places', SITE, PERSONAL),
  categories('a category is added in front', 'admin', 'read', 'write'),
  categories('a category is removed', 'write'),
  categories('categories change places', 'write', 'read'),
  {
    name: 'everything changes at once',
    before: BEFORE,
    after: withWindows({ ...BEFORE, categories: ['admin', 'write'], layers: [ALL, SITE, PERSONAL] }, [
      { label: '10m', lengthMs: 600_000 },
      DAY,
      { ...HOUR, lengthMs: 2 * HOUR_MS },
    ]),
  },
]
