import type { JSX } from 'preact'
import type { Adaptive, Overview } from '../api/api.ts'
import type { ConsolePage } from '../pages/page.ts'
import type { Speech } from '../words/words.ts'

/** A problem that needs attention. */
export interface Problem {
  readonly text: string
  /** Where to go; `undefined` if nowhere. */
  readonly href?: string | undefined
}

/**
 * What the console shows for one extra of the gateway. Only `index.ts` imports an extra's folder. You can remove the
 * folder together with that import.
 */
export interface Extra {
  /** The extra's name in `EXTRAS`. Without a name it needs nothing beyond the specification and is always shown. */
  readonly name?: string
  readonly pages: readonly ConsolePage[]
  /** The address that explains why a user is refused. Without an id: who was refused lately. */
  refusalsHref?(userId?: string): string
  /** A section of a user's page. Call `onChanged` to reload the user's usage. */
  User?(props: { readonly id: string; onChanged(): void }): JSX.Element | null
  /** Actions below the wall of adaptive mode. `levels` is empty if there is no wall. */
  Wall?(props: { readonly levels: string; onForgotten(adaptive: Adaptive): void }): JSX.Element
  /** Its card on the overview, and its problem, if it has one. */
  readonly overview?: {
    Card(props: { readonly of: Overview; readonly now: number }): JSX.Element
    problem(of: Overview, speech: Speech): Problem | undefined
  }
}
