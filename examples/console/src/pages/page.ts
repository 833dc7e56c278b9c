import type { JSX } from 'preact'
import type { Route } from '../route.ts'
import type { Texts } from '../words/words.ts'

export interface ConsolePage {
  /** `users`, or `settings/history`, which the page `settings` links to. */
  readonly path: string
  readonly labels: Texts<string>
  /** Strokes in a square of 16. Leave it out for a page that is linked from another page. */
  readonly icon?: string
  /**
   * The page that follows it in the navigation.
   *
   * @default it comes last
   */
  readonly before?: string
  Page(props: { readonly route: Route }): JSX.Element
}

/** In the order of the navigation. */
export function inOrder(pages: readonly ConsolePage[]): ConsolePage[] {
  const ordered: ConsolePage[] = []
  for (const page of pages) {
    const at = ordered.findIndex(({ path }) => path === page.before)
    ordered.splice(at < 0 ? ordered.length : at, 0, page)
  }
  return ordered
}

export function pageAt(pages: readonly ConsolePage[], { name, part }: Route): ConsolePage | undefined {
  const exact = part === undefined ? undefined : pages.find(({ path }) => path === `${name}/${part}`)
  return exact ?? pages.find(({ path }) => path === name)
}
