import { type Exploration, explore, type Machine } from '../living/explore.ts'

/** A rule, and the effect of leaving it out. */
export interface LeftOut {
  /** The behavior in place of the rule. */
  readonly fault: string
  /** The machine without the rule. */
  readonly machine: Machine<unknown, string>
  /** The promise that it breaks. */
  readonly promise: string | RegExp
}

/** A machine whose every state is checked, and its rules. */
export interface Proof {
  /** The slug of its page. */
  readonly slug: string
  readonly title: string
  /** The content of its exploration, in a sentence or two. */
  readonly about: string
  /** The promises that every state is checked for. */
  readonly promises: readonly string[]
  readonly machine: Machine<unknown, string>
  /** By rule: at least one variant that breaks a promise. */
  readonly rules: Readonly<Record<string, readonly LeftOut[]>>
  /** The actors. An action belongs to the first one whose name it begins with; all other actions happen to everyone. */
  readonly actors: readonly string[]
  /** The first known break. An exploration ends there. */
  readonly known?: KnownBreak | undefined
  /** Actions per history: in every test run, and by default in `npm run prove`. */
  readonly depths: { readonly quick: number; readonly usual: number }
}

/** A promise that is known to break, and why that is accepted. */
export interface KnownBreak {
  readonly promise: string
  readonly history: readonly string[]
  readonly because: string
}

/** The promise that a variant breaks, and one of the shortest histories. */
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

/** Explores a machine. It throws if another promise breaks than the known one. */
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

/** Leaves out each rule in turn. It throws if no history needs a rule. */
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
