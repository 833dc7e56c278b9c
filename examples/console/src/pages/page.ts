import type { JSX } from 'preact'
import type { Route } from '../route.ts'
import type { Texts } from '../words/words.ts'

export interface ConsolePage {
  /** `users`, or `settings/history`, which the page `settings` links to. */
  readonly path: string
  readonly labels: Texts<string>
  /** Strokes in a square of 16. Leave it out for a page that is linked from another page. */
  readonly icon?: string
  Page(props: { readonly route: Route }): JSX.Element
}
