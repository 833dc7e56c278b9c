import type { Machine } from './explore.ts'

/** How processes learn of settings. Each member's first value is right, the others are wrong. */
export interface SettingsRules {
  /** Which of the documents it reads a process adopts. */
  readonly adopts: 'whatever is stored' | 'higher versions alone'
  /** How a process recognizes a document that it already has. */
  readonly sameness: 'revision' | 'version'
  /** How a process reacts if nothing is stored. */
  readonly absence: 'followed' | 'ignored'
  /** When a stale process announces what it read. */
  readonly announces: 'over what it saw' | 'over anything' | 'over lower versions' | 'never'
  /** When the read after a stale answer begins. */
  readonly looks: 'after the answer' | 'before the answer'
  /** Which server the read goes to. */
  readonly asks: 'the primary' | 'a replica'
}

const SETTINGS_RULES: SettingsRules = {
  adopts: 'whatever is stored',
  sameness: 'revision',
  absence: 'followed',
  announces: 'over what it saw',
  looks: 'after the answer',
  asks: 'the primary',
}

/**
 * The place of the documents: in one key with the counters, or elsewhere, so that their revision has to be announced.
 */
export type Place = 'with the counters' | 'elsewhere'

/** A document by its number and its mark; mark 0 if nothing is stored. */
interface Document {
  readonly version: number
  readonly revision: number
}

const NOTHING: Document = { version: 0, revision: 0 }
/** A mark that no document has. */
const NONE = -1

interface Process {
  readonly knows: Document
  /** The document that it wrote and has not announced yet. */
  readonly announcing?: Document | undefined
  /** The document that it read after a stale answer, and the one that the answer named. */
  readonly caught?: { readonly read: Document; readonly saw: Document } | undefined
}

interface SettingsState {
  readonly stored: Document
  readonly replica: Document
  readonly backup: Document
  /** The document that the counters know. */
  readonly announced: Document
  readonly written: number
  readonly processes: readonly [Process, Process]
  /** The mark of the announced document after it was stored, while nothing has been lost since. */
  readonly settled: number
  /** The fault in the last step. */
  readonly fault?: string | undefined
}

const NUMBERS = ['first', 'second'] as const
type ProcessName = (typeof NUMBERS)[number]
type SettingsAction =
  | `the ${ProcessName} writes`
  | `the ${ProcessName} announces`
  | `the ${ProcessName} decides`
  | `the ${ProcessName} announces again`
  | `the ${ProcessName} dies`
  | 'all is lost'
  | 'the counters are lost'
  | 'a backup is made'
  | 'the backup is put back'
  | 'the replica catches up'

/** Rounds without faults: more than enough for all processes to learn of everything. */
const QUIET_ROUNDS = 4

/** Two processes under settings that are written, lost and restored by the given rules. */
export function settingsMachine(
  place: Place,
  left: Partial<SettingsRules> = {},
): Machine<SettingsState, SettingsAction> {
  const rules = { ...SETTINGS_RULES, ...left }
  const isTogether = place === 'with the counters'

  function same(one: Document, other: Document): boolean {
    return rules.sameness === 'revision' ? one.revision === other.revision : one.version === other.version
  }

  function adopted(knows: Document, read: Document): Document {
    if (same(knows, read)) return knows
    if (read.revision === 0 && rules.absence === 'ignored') return knows
    return rules.adopts === 'whatever is stored' || read.version > knows.version ? read : knows
  }

  function known(state: SettingsState): Document {
    return isTogether ? state.stored : state.announced
  }

  function changed(state: SettingsState, index: number, process: Process): SettingsState {
    const [first, second] = state.processes
    return { ...state, processes: index === 0 ? [process, second] : [first, process] }
  }

  function processAt(state: SettingsState, index: number): Process {
    return index === 0 ? state.processes[0] : state.processes[1]
  }

  function write(state: SettingsState, index: number): SettingsState {
    const document = { version: state.stored.version + 1, revision: state.written + 1 }
    const next = { ...state, stored: document, written: document.revision }
    if (isTogether) return changed(next, index, { knows: document })
    return changed(next, index, { knows: document, announcing: document })
  }

  function announce(state: SettingsState, index: number): SettingsState {
    const { knows, announcing = NOTHING } = processAt(state, index)
    const settled = announcing.revision === state.stored.revision ? announcing.revision : state.settled
    return changed({ ...state, announced: announcing, settled }, index, { knows })
  }

  /** A decision and, after a stale answer, the read that follows it. */
  function decide(state: SettingsState, index: number): SettingsState {
    const process = processAt(state, index)
    const saw = known(state)
    if (same(process.knows, saw)) return state
    const fresh = rules.asks === 'a replica' ? state.replica : state.stored
    const read = rules.looks === 'after the answer' ? fresh : process.knows
    const knows = adopted(process.knows, read)
    const looked = changed(state, index, { ...process, knows, caught: { read, saw } })
    const isStale = isTogether && !same(knows, known(looked))
    return isStale ? { ...looked, fault: 'a second answer is stale, and nothing changed' } : looked
  }

  function announceAgain(state: SettingsState, index: number): SettingsState {
    const { caught, ...process } = processAt(state, index)
    if (caught === undefined) return state
    const { read, saw } = caught
    const isDue = {
      'over what it saw': state.announced.revision === saw.revision,
      'over anything': true,
      'over lower versions': state.announced.version < read.version,
      never: false,
    }[rules.announces]
    const after = changed(isDue ? { ...state, announced: read } : state, index, process)
    const { stored, settled } = state
    const wasRight = settled === stored.revision && state.announced.revision === settled
    if (!wasRight || after.announced.revision === settled) return after
    return { ...after, fault: 'what is stored was announced, and is announced no more' }
  }

  /** Every message in flight arrives, and every process learns of the stored document. */
  function quietRound(before: SettingsState): SettingsState {
    let state: SettingsState = { ...before, replica: before.stored, fault: undefined }
    for (const index of [0, 1]) {
      if (processAt(state, index).announcing !== undefined) state = announce(state, index)
      const process = processAt(state, index)
      state = changed(state, index, { ...process, knows: adopted(process.knows, state.stored) })
      state = decide(state, index)
      if (!isTogether) state = announceAgain(state, index)
    }
    return state
  }

  function unsettled(state: SettingsState): string | undefined {
    let quiet = state
    for (let round = 0; round < QUIET_ROUNDS; round++) quiet = quietRound(quiet)
    for (const { knows } of quiet.processes) {
      if (knows.revision !== quiet.stored.revision) return 'a process never follows what is stored'
      if (knows.revision !== known(quiet).revision) return 'a process is stale for ever'
    }
    return undefined
  }

  /** The effect of an action on the stores. */
  function befallen({ stored, backup }: SettingsState, action: SettingsAction): Partial<SettingsState> | undefined {
    if (action === 'all is lost') return { stored: NOTHING, announced: NOTHING, settled: NONE }
    if (action === 'the counters are lost') return { announced: NOTHING, settled: NONE }
    if (action === 'a backup is made') return { backup: stored }
    if (action === 'the backup is put back') return { stored: backup, settled: NONE }
    return action === 'the replica catches up' ? { replica: stored } : undefined
  }

  function next(before: SettingsState, action: SettingsAction): SettingsState {
    const state = { ...before, fault: undefined }
    const changes = befallen(state, action)
    if (changes !== undefined) return { ...state, ...changes }
    const index = action.startsWith('the first') ? 0 : 1
    if (action.endsWith('writes')) return write(state, index)
    if (action.endsWith('announces')) return announce(state, index)
    if (action.endsWith('decides')) return decide(state, index)
    // Another process replaces it, and begins with a read.
    if (action.endsWith('dies')) return changed(state, index, { knows: state.stored })
    return announceAgain(state, index)
  }

  function actions({ processes }: SettingsState): SettingsAction[] {
    const each = NUMBERS.flatMap((number, index): SettingsAction[] => {
      const process = processes[index === 0 ? 0 : 1]
      return [
        `the ${number} writes`,
        `the ${number} decides`,
        `the ${number} dies`,
        ...(process.announcing === undefined ? [] : [`the ${number} announces` as const]),
        ...(process.caught === undefined || isTogether ? [] : [`the ${number} announces again` as const]),
      ]
    })
    const apart: SettingsAction[] = isTogether ? [] : ['the counters are lost']
    const copies: SettingsAction[] = rules.asks === 'a replica' ? ['the replica catches up'] : []
    return [...each, 'all is lost', 'a backup is made', 'the backup is put back', ...apart, ...copies]
  }

  const process: Process = { knows: NOTHING }
  return {
    initial: {
      stored: NOTHING,
      replica: NOTHING,
      backup: NOTHING,
      announced: NOTHING,
      written: 0,
      processes: [process, process],
      settled: NONE,
    },
    actions,
    next,
    broken: (state) => state.fault ?? unsettled(state),
  }
}
