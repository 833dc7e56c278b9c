import type { DecisionFrame } from '../decision/decide.ts'
import { effectiveQuotas, type Quotas } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import type { SubjectSettings, VersionedSettings } from '../policy/settings.ts'
import { priceOf } from '../policy/warnings.ts'
import { inRowOrder } from '../windows/identity.ts'
import { Layout } from '../windows/layout.ts'

/** An operation as decisions need it. */
export interface CompiledOperation {
  readonly name: string
  /** Index into the policy's categories. */
  readonly category: number
  /** Price in tokens under the settings. */
  readonly cost: number
}

/** One version of the settings under one adaptive factor, worked out for the decisions made under them. */
export class CompiledSettings {
  readonly settings: VersionedSettings
  readonly operations: ReadonlyMap<string, CompiledOperation>
  /** Quotas of subjects without settings of their own, by category. */
  readonly defaults: readonly Quotas[]
  /** The policy with its windows in the order of a row. */
  readonly #policy: Policy
  readonly #factorHundredths: number
  /** Quotas by a subject's settings; gone when a subject's settings are replaced. */
  readonly #bySubject = new WeakMap<SubjectSettings, readonly Quotas[]>()

  /** @param factorHundredths the adaptive factor; counts in mode `adaptive` alone */
  constructor(policy: Policy, settings: VersionedSettings, factorHundredths = 100) {
    this.settings = settings
    this.#policy = { ...policy, windows: inRowOrder(policy.windows) }
    this.#factorHundredths = factorHundredths
    this.defaults = effectiveQuotas(this.#policy, settings, {}, factorHundredths)
    this.operations = new Map(
      Object.entries(policy.operations).map(([name, { category }]) => [
        name,
        { name, category: policy.categories.indexOf(category), cost: priceOf(policy, settings, name) },
      ]),
    )
  }

  /** Quotas by category of a subject with settings in some layers, by layer name. */
  quotasOf(subjects: Readonly<Record<string, SubjectSettings>>): readonly Quotas[] {
    const layers = Object.values(subjects)
    if (layers.length === 0) return this.defaults
    if (layers.length > 1) return this.#worked(subjects)
    const known = this.#bySubject.get(layers[0]!)
    if (known !== undefined) return known
    const quotas = this.#worked(subjects)
    this.#bySubject.set(layers[0]!, quotas)
    return quotas
  }

  #worked(subjects: Readonly<Record<string, SubjectSettings>>): readonly Quotas[] {
    return effectiveQuotas(this.#policy, this.settings, subjects, this.#factorHundredths)
  }
}

/** A frame for each category, shared by all its decisions. */
export function decisionFrames({ windows, layers, categories }: Policy): readonly DecisionFrame[] {
  const inRow = inRowOrder(windows)
  const shownAs = windows.map((window) => inRow.indexOf(window))
  const layout = new Layout(inRow)
  return categories.map((category) => ({ layout, layers, category, shownAs }))
}
