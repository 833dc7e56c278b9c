import type { Quotas } from '../../policy/limits.ts'
import type { SubjectSettings } from '../../policy/settings.ts'

/**
 * Quotas worked out before, by the settings of one subject in each of its layers: gone with the settings. For each of them
 * there are no more than there are plans, times the ways in which parts of the settings may have ended.
 */
export class KnownQuotas {
  /** Whether some part of the settings ends at some time. */
  readonly ends: boolean
  #usual: readonly Quotas[] | undefined
  #others: Map<string, readonly Quotas[]> | undefined
  #next: WeakMap<SubjectSettings, KnownQuotas> | undefined
  /** The next layer where the subject has no settings. */
  #without: KnownQuotas | undefined

  constructor(ends = false) {
    this.ends = ends
  }

  /** What is known of a subject with these settings. */
  of(layers: readonly string[], subjects: Readonly<Record<string, SubjectSettings>>): KnownQuotas {
    let known: KnownQuotas = this
    for (const layer of layers) known = known.#following(Object.hasOwn(subjects, layer) ? subjects[layer] : undefined)
    return known
  }

  /** A variant that was worked out and does not end; `undefined`: there is none. */
  lasting(variant: string): readonly Quotas[] | undefined {
    if (this.ends) return undefined
    return variant === '' ? this.#usual : this.#others?.get(variant)
  }

  /**
   * @param variant what tells these quotas from those of the same settings, `''`: nothing
   * @param work makes them when they are first asked for
   */
  quotas(variant: string, work: () => readonly Quotas[]): readonly Quotas[] {
    if (variant === '') {
      this.#usual ??= work()
      return this.#usual
    }
    this.#others ??= new Map()
    const known = this.#others.get(variant)
    if (known !== undefined) return known
    const quotas = work()
    this.#others.set(variant, quotas)
    return quotas
  }

  #following(settings: SubjectSettings | undefined): KnownQuotas {
    if (settings === undefined) {
      this.#without ??= new KnownQuotas(this.ends)
      return this.#without
    }
    this.#next ??= new WeakMap()
    const known = this.#next.get(settings)
    if (known !== undefined) return known
    const { overrides, plan } = settings.until
    const next = new KnownQuotas(this.ends || overrides !== null || plan !== null)
    this.#next.set(settings, next)
    return next
  }
}
