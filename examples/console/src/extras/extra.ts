import type { JSX } from 'preact'
import type { Adaptive, Overview } from '../api/api.ts'
import type { ConsolePage } from '../pages/page.ts'
import type { Speech } from '../words/words.ts'

/** Something that needs a person's attention. */
export interface Problem {
  readonly text: string
  /** Where to go on; absent: nowhere. */
  readonly href?: string | undefined
}

/** What the console shows for one extra of the gateway. Only `index.ts` imports its folder: without both, the rest works. */
export interface Extra {
  /** What the gateway's `EXTRAS` calls it. Absent: it needs nothing beyond the specification, and is always shown. */
  readonly name?: string
  readonly pages: readonly ConsolePage[]
  /** The address that explains why a user is refused; without an id, who was refused lately. */
  refusalsHref?(userId?: string): string
  /** A section of a user's page. `onChanged` reads the user's usage again. */
  User?(props: { readonly id: string; onChanged(): void }): JSX.Element | null
  /** What can be done about the wall of mode adaptive, whose levels are `levels`. */
  Wall?(props: { readonly levels: string; onForgotten(adaptive: Adaptive): void }): JSX.Element
  /** Its card of the overview, and whether something in it is wrong. */
  readonly overview?: {
    Card(props: { readonly of: Overview; readonly now: number }): JSX.Element
    problem(of: Overview, speech: Speech): Problem | undefined
  }
}
