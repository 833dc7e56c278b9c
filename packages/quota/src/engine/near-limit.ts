import type { AdmittedDecision, WindowStatus } from '../decision/decision.ts'
import type { LayerDefinition } from '../policy/policy.ts'
import { layerKey } from '../store/schema.ts'
import type { NearLimit } from './requests.ts'

/** Share of a limit from which it is near. */
const NEAR = 0.8
/** Window openings remembered as told. Beyond it the oldest are forgotten: told twice, at worst, after a refund. */
const MAX_TOLD = 10_000

/** Finds the windows that a charge took across 80 %, each opening of a window once. */
export class NearLimitWatch {
  readonly #layers: readonly LayerDefinition[]
  readonly #told = new Set<string>()

  constructor(layers: readonly LayerDefinition[]) {
    this.#layers = layers
  }

  crossings(decision: AdmittedDecision): NearLimit[] {
    const { subject, cost } = decision
    return decision.windows
      .filter((window): window is WindowStatus => window.used !== null)
      .filter((window) => crosses(window, cost) && this.#isNew(decision, window))
      .map((window) => ({ subject, decision, window }))
  }

  #isNew({ subject }: AdmittedDecision, { layer, category, window, startedAt }: WindowStatus): boolean {
    const definition = this.#layers.find(({ name }) => name === layer)!
    const key = JSON.stringify([layer, category, window, startedAt, layerKey(definition, subject)])
    if (this.#told.has(key)) return false
    this.#told.add(key)
    if (this.#told.size > MAX_TOLD) this.#told.delete(this.#told.values().next().value!)
    return true
  }
}

function crosses({ limit, used }: WindowStatus, cost: number): boolean {
  return limit !== 'unlimited' && used >= limit * NEAR && used - cost < limit * NEAR
}
