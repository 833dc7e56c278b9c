import type { JSX } from 'preact'
import type { Route } from '../route.ts'
import type { Texts } from '../words/words.ts'

/** A page of the console, at an address of its own. */
export interface ConsolePage {
  /** `users`; or `settings/history`, to which the page `settings` links. */
  readonly path: string
  readonly labels: Texts<string>
  /** Strokes in a square of 16, next to its name in the navigation. A page that another one links to has none. */
  readonly icon?: string
  /** The page that it precedes in the navigation. @default it comes last */
  readonly before?: string
  Page(props: { readonly route: Route }): JSX.Element
}

/** Pages in the order of the navigation. */
export function inOrder(pages: readonly ConsolePage[]): ConsolePage[] {
  const ordered: ConsolePage[] = []
  for (const page of pages) {
    const at = ordered.findIndex(({ path }) => path === page.before)
    ordered.splice(at < 0 ? ordered.length : at, 0, page)
  }
  return ordered
}

/** The page at an address. */
export function pageAt(pages: readonly ConsolePage[], { name, part }: Route): ConsolePage | undefined {
  const exact = part === undefined ? undefined : pages.find(({ path }) => path === `${name}/${part}`)
  return exact ?? pages.find(({ path }) => path === name)
}
