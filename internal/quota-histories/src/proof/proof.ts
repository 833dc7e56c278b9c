import { type Exploration, explore, type Machine } from '../living/explore.ts'

/** A rule, and what goes wrong without it. */
export interface LeftOut {
  /** What is done in the rule's place. */
  readonly fault: string
  /** The machine without the rule. */
  readonly machine: Machine<unknown, string>
  /** The promise that it breaks. */
  readonly promise: string | RegExp
}

/** A machine whose every state is checked, and its rules. */
export interface Proof {
  /** Of its page. */
  readonly slug: string
  readonly title: string
  /** What it explores, in a sentence or two. */
  readonly about: string
  /** What every state is checked for. */
  readonly promises: readonly string[]
  readonly machine: Machine<unknown, string>
  /** By rule: at least one variant that breaks a promise. */
  readonly rules: Readonly<Record<string, readonly LeftOut[]>>
  /** Who acts: an action belongs to the first whose name it begins with; the others are what happens to all. */
  readonly actors: readonly string[]
  /** What the shortest histories break that break anything; an exploration ends there. */
  readonly known?: KnownBreak | undefined
  /** Actions of a history: in every run of the tests, and by default in `npm run prove`. */
  readonly depths: { readonly quick: number; readonly usual: number }
}

/** A promise that is known to break, and why that is accepted. */
export interface KnownBreak {
  readonly promise: string
  readonly history: readonly string[]
  readonly because: string
}

/** What a variant without a rule breaks, by one of the shortest histories. */
export interface Counterexample {
  readonly rule: string
  readonly fault: string
  readonly promise: string
  readonly history: readonly string[]
}

/** The result of a proof. */
export interface ProofResult {
  readonly slug: string
  readonly depth: number
  readonly states: number
  readonly steps: number
  readonly seconds: number
  readonly counterexamples: readonly Counterexample[]
}

/** Explores a machine; one that breaks another promise than is known is an error. */
export function checkMachine(
  { title, machine, known }: Proof,
  depth: number,
  options: Parameters<typeof explore>[2] = {},
): Exploration<string> {
  const found = explore(machine, depth, options)
  const { broken } = found
  if (broken !== undefined && broken.history.join() !== known?.history.join()) {
    throw new Error(`${title}: ${broken.promise}, after: ${broken.history.join(', ')}`)
  }
  return found
}

/** Leaves each rule out in turn; a rule that no history needs is an error. */
export function counterexamples({ title, rules }: Proof, depth: number): readonly Counterexample[] {
  return Object.entries(rules).flatMap(([rule, variants]) => {
    if (variants.length === 0) throw new Error(`${title}: no variant leaves out the rule "${rule}"`)
    return variants.map(({ fault, machine, promise }) => {
      const { broken } = explore(machine, depth)
      const isAsExpected =
        typeof promise === 'string' ? broken?.promise === promise : promise.test(broken?.promise ?? '')
      if (broken === undefined || !isAsExpected) {
        throw new Error(`${title}: "${fault}" was to break "${promise}" and broke ${broken?.promise ?? 'nothing'}`)
      }
      return { rule, fault, ...broken }
    })
  })
}
