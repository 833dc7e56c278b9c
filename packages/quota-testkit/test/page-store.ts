import type { Clock } from '@scoregw/quota'
import {
  type IdPlace,
  idPlaces,
  type NamedCell,
  type NamedRecord,
  type RowPlace,
  type RowRequest,
  rowPlaces,
  Scratch,
  type StoreSchema,
  type SyncCounters,
  type SyncStore,
} from '@scoregw/quota/store'

/** The shortest complete store: JSON in a map, kept for ever. */
export function mapStore(clock: Clock): SyncStore {
  const kept = new Map<string, string>()
  const scratch = new Scratch()

  /** Any text that no two places share. */
  const nameOf = (place: RowPlace | IdPlace) => JSON.stringify(place)
  function read<Kept>(place: RowPlace | IdPlace): Kept | null {
    return JSON.parse(kept.get(nameOf(place)) ?? 'null') as Kept | null
  }
  const write = (place: RowPlace | IdPlace, value: unknown) =>
    value && kept.set(nameOf(place), JSON.stringify(value))

  /** One step. In a database this is one transaction. */
  function step<Reply>(
    schema: StoreSchema,
    request: RowRequest,
    ids: readonly IdPlace[],
    decide: (counters: SyncCounters) => Reply,
  ): Reply {
    const rows = rowPlaces(schema, request)
    scratch.begin(clock.now())
    for (const place of rows) {
      const cells = read<NamedCell[]>(place)
      if (cells) scratch.putRow(place, cells)
    }
    for (const place of ids) {
      const record = read<NamedRecord>(place)
      if (record) scratch.putRecord(place, record)
    }
    const reply = decide(scratch.open(schema))
    for (const place of rows) write(place, scratch.row(place))
    for (const place of ids) write(place, scratch.record(place))
    return reply
  }

  const open = (schema: StoreSchema): SyncCounters => ({
    take: (request) =>
      step(schema, request, idPlaces(schema, request), (all) =>
        all.take(request),
      ),
    read: (request) =>
      step(schema, request, [], (all) => all.read(request)),
    settle: (request) =>
      step(schema, request, idPlaces(schema, request), (all) =>
        all.settle(request),
      ),
    reset: (request) =>
      step(schema, request, [], (all) => all.reset(request)),
  })
  const can = { calendar: true, sets: true }
  return { sync: true, can, open }
}

import {
  CONFORMANCE_CASES,
  manualClock,
  runCase,
  type StoreFactory,
} from '@scoregw/quota-testkit'

const factory: StoreFactory = () => {
  const clock = manualClock()
  return {
    store: mapStore(clock),
    capabilities: ['ids', 'sync', 'clock-steps', 'regroup'],
    clock,
    advance: clock.advance,
    stepClock: clock.advance,
    stop: () => undefined,
  }
}

for (const testCase of CONFORMANCE_CASES)
  await runCase(testCase, factory)
console.log(`${CONFORMANCE_CASES.length} cases passed`)
// => 225 cases passed
