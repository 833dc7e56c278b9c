import {
  type FactorState,
  type FactorStore,
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  type OutcomeStore,
  type VersionedFactor,
} from '@scoregw/quota/adaptive'

interface Pair<Port> {
  readonly store: Port
  readonly peer: Port
}

interface PortMutant<Port> {
  readonly fault: string
  make(): Pair<Port>
}

/** A table that two processes share, as text, so that nothing is shared by accident. */
interface FactorTable {
  row: string | undefined
  readonly listeners: Set<() => void>
}

type FactorParts = Omit<FactorStore, 'close'>

/** A store of the factor by the book: as on SQL, its calls answer later, and a write is one step. */
function factorOn(table: FactorTable): FactorParts {
  const stored = () => (table.row === undefined ? undefined : (JSON.parse(table.row) as VersionedFactor))
  return {
    read: async () => stored(),
    async compareAndSet(expectedVersion, minute, state) {
      const row = stored()
      if ((row?.version ?? 0) !== expectedVersion || row?.minute === minute) return false
      table.row = JSON.stringify({ version: expectedVersion + 1, minute, state })
      for (const listener of [...table.listeners]) queueMicrotask(listener)
      return true
    },
    watch(listener) {
      const entry = () => {
        if (table.listeners.has(entry)) listener()
      }
      table.listeners.add(entry)
      return () => void table.listeners.delete(entry)
    },
  }
}

type ChangeFactor = (inner: FactorParts, table: FactorTable) => Partial<FactorParts>

/** Two processes on one table, each with the same fault. */
export function twoFactors(change: ChangeFactor = () => ({})): Pair<FactorStore> {
  const table: FactorTable = { row: undefined, listeners: new Set() }
  const make = (): FactorStore => {
    const inner = factorOn(table)
    return { ...inner, ...change(inner, table) }
  }
  return { store: make(), peer: make() }
}

function factorMutant(fault: string, change: ChangeFactor): PortMutant<FactorStore> {
  return { fault, make: () => twoFactors(change) }
}

/** Writes whatever `version` says, by its own rule. */
function writing(table: FactorTable, version: number, minute: number, state: FactorState): true {
  table.row = JSON.stringify({ version, minute, state })
  for (const listener of [...table.listeners]) queueMicrotask(listener)
  return true
}

function rowOf(table: FactorTable): VersionedFactor | undefined {
  return table.row === undefined ? undefined : (JSON.parse(table.row) as VersionedFactor)
}

/** Stores of the factor that are wrong in one way each. */
export const FACTOR_MUTANTS: readonly PortMutant<FactorStore>[] = [
  factorMutant('writes over any version', (_, table) => ({
    compareAndSet: async (version, minute, state) =>
      rowOf(table)?.minute === minute ? false : writing(table, version + 1, minute, state),
  })),
  factorMutant('writes over any older version', (_, table) => ({
    compareAndSet: async (version, minute, state) => {
      const row = rowOf(table)
      if ((row?.version ?? 0) > version || row?.minute === minute) return false
      return writing(table, version + 1, minute, state)
    },
  })),
  factorMutant('writes a minute twice', (_, table) => ({
    compareAndSet: async (version, minute, state) =>
      (rowOf(table)?.version ?? 0) === version ? writing(table, version + 1, minute, state) : false,
  })),
  factorMutant('refuses an earlier minute', (inner, table) => ({
    compareAndSet: async (version, minute, state) =>
      minute < (rowOf(table)?.minute ?? 0) ? false : inner.compareAndSet(version, minute, state),
  })),
  factorMutant('compares first and writes later', (inner, table) => ({
    async compareAndSet(version, minute, state) {
      const row = await inner.read()
      if ((row?.version ?? 0) !== version || row?.minute === minute) return false
      return writing(table, version + 1, minute, state)
    },
  })),
  factorMutant('does not count versions', (_, table) => ({
    compareAndSet: async (version, minute, state) => {
      const row = rowOf(table)
      if ((row?.version ?? 0) !== version || row?.minute === minute) return false
      return writing(table, 1, minute, state)
    },
  })),
  factorMutant('says that it wrote when it did not', (inner) => ({
    async compareAndSet(version, minute, state) {
      await inner.compareAndSet(version, minute, state)
      return true
    },
  })),
  factorMutant('writes empty lists as empty objects', (inner) => ({
    compareAndSet: (version, minute, state) =>
      inner.compareAndSet(version, minute, state.history.length > 0 ? state : { ...state, history: {} as never }),
  })),
  factorMutant('leaves out what is null', (inner) => ({
    compareAndSet: (version, minute, state) =>
      inner.compareAndSet(
        version,
        minute,
        JSON.parse(JSON.stringify(state, (_, value: unknown) => value ?? undefined)) as FactorState,
      ),
  })),
  factorMutant('merges a state into the one before', (inner, table) => ({
    compareAndSet: (version, minute, state) => {
      const given = Object.entries(state).filter(([, value]) => value !== null)
      const merged = { ...rowOf(table)?.state, ...Object.fromEntries(given) } as FactorState
      return inner.compareAndSet(version, minute, table.row === undefined ? state : merged)
    },
  })),
  factorMutant('rounds numbers to 9 digits', (inner) => ({
    compareAndSet: (version, minute, state) => {
      const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(9)) : value)
      return inner.compareAndSet(version, minute, JSON.parse(JSON.stringify(state, rounded)) as FactorState)
    },
  })),
  factorMutant('tells nobody', () => ({ watch: () => () => undefined })),
  factorMutant('tells nobody but its own process', (inner) => {
    const own = new Set<() => void>()
    return {
      watch(listener) {
        const entry = () => listener()
        own.add(entry)
        return () => void own.delete(entry)
      },
      async compareAndSet(version, minute, state) {
        const written = await inner.compareAndSet(version, minute, state)
        if (written) for (const listener of [...own]) listener()
        return written
      },
    }
  }),
  factorMutant('tells before it has written', (inner, table) => ({
    async compareAndSet(version, minute, state) {
      const listeners = [...table.listeners]
      table.listeners.clear()
      for (const listener of listeners) {
        table.listeners.add(listener)
        listener()
      }
      table.listeners.clear()
      await new Promise(setImmediate)
      const written = await inner.compareAndSet(version, minute, state)
      for (const listener of listeners) table.listeners.add(listener)
      return written
    },
  })),
  factorMutant('goes on telling after the end of a watch', (inner) => ({
    watch(listener) {
      inner.watch(listener)
      return () => undefined
    },
  })),
  factorMutant('takes a listener that watches twice for one', (_, table) => ({
    watch(listener) {
      table.listeners.add(listener)
      return () => void table.listeners.delete(listener)
    },
  })),
]

type OutcomeTable = Map<number, Record<string, number>>

type ChangeOutcomes = (inner: OutcomeStore, table: OutcomeTable) => Partial<OutcomeStore>

function outcomesOn(table: OutcomeTable): OutcomeStore {
  return {
    async add(counts) {
      for (const { minute, ...added } of counts) {
        const row = table.get(minute) ?? {}
        for (const column of OUTCOME_COLUMNS) row[column] = (row[column] ?? 0) + added[column]
        table.set(minute, row)
      }
    },
    async read(from, to) {
      const rows = [...table].filter(([minute]) => minute >= from && minute < to).sort(([a], [b]) => a - b)
      return rows.map(([minute, row]) => ({ minute, ...row }) as MinuteOutcomes)
    },
  }
}

/** Two processes on one table of outcomes, each with the same fault. */
export function twoOutcomes(change: ChangeOutcomes = () => ({})): Pair<OutcomeStore> {
  const table: OutcomeTable = new Map()
  const make = (): OutcomeStore => {
    const inner = outcomesOn(table)
    return { ...inner, ...change(inner, table) }
  }
  return { store: make(), peer: make() }
}

function outcomeMutant(fault: string, change: ChangeOutcomes): PortMutant<OutcomeStore> {
  return { fault, make: () => twoOutcomes(change) }
}

/** Stores of outcomes that are wrong in one way each. */
export const OUTCOME_MUTANTS: readonly PortMutant<OutcomeStore>[] = [
  outcomeMutant('replaces what was there', (inner, table) => ({
    async add(counts) {
      for (const { minute } of counts) table.delete(minute)
      await inner.add(counts)
    },
  })),
  outcomeMutant('counts a minute once in one call', (inner) => ({
    add: (counts) => inner.add([...new Map(counts.map((each) => [each.minute, each])).values()]),
  })),
  outcomeMutant('reads first and writes later', (inner, table) => ({
    async add(counts) {
      const before = new Map([...table].map(([minute, row]) => [minute, { ...row }]))
      await new Promise(setImmediate)
      for (const { minute } of counts) {
        table.delete(minute)
        const row = before.get(minute)
        if (row !== undefined) table.set(minute, row)
      }
      await inner.add(counts)
    },
  })),
  outcomeMutant('has no column for refusals', (inner) => ({
    add: (counts) => inner.add(counts.map((each) => ({ ...each, refused: 0 }))),
  })),
  outcomeMutant('counts every server error as one about quotas', (inner) => ({
    add: (counts) => inner.add(counts.map((each) => ({ ...each, quotaUnavailable: each.serverError }))),
  })),
  outcomeMutant('reads the last minute too', (inner) => ({ read: (from, to) => inner.read(from, to + 1) })),
  outcomeMutant('leaves out the first minute', (inner) => ({ read: (from, to) => inner.read(from + 1, to) })),
  outcomeMutant('reads in the order of the first count', (_, table) => ({
    read: async (from, to) =>
      [...table]
        .filter(([minute]) => minute >= from && minute < to)
        .map(([minute, row]) => ({ minute, ...row }) as MinuteOutcomes),
  })),
  outcomeMutant('swaps bounds that are the wrong way round', (inner) => ({
    read: (from, to) => inner.read(Math.min(from, to), Math.max(from, to)),
  })),
  outcomeMutant('keeps 7 days', (inner, table) => ({
    async add(counts) {
      await inner.add(counts)
      const newest = Math.max(...table.keys())
      for (const minute of [...table.keys()]) if (minute <= newest - 7 * 24 * 60) table.delete(minute)
    },
  })),
  outcomeMutant('takes no minute before the last', (inner, table) => ({
    add: (counts) => inner.add(counts.filter(({ minute }) => minute >= Math.max(0, ...table.keys()))),
  })),
  outcomeMutant('has columns of 32 bits', (inner, table) => ({
    async add(counts) {
      await inner.add(counts)
      for (const row of table.values()) for (const column of OUTCOME_COLUMNS) row[column] = (row[column] ?? 0) % 2 ** 32
    },
  })),
  outcomeMutant('fails when there is nothing to add', (inner) => ({
    async add(counts) {
      if (counts.length === 0) throw new TypeError('no rows')
      await inner.add(counts)
    },
  })),
  outcomeMutant('keeps the counts in the process', () => outcomesOn(new Map())),
]
