import type { JSX } from 'preact'
import { hrefOf, PAGES, type Route } from './route.ts'
import { Icon } from './ui/icon.tsx'
import { useWords } from './words/words.ts'

interface NavigationProps {
  readonly page: Route['page']
  /** The addresses of the pages that have something that is not saved. */
  readonly unsaved: readonly string[]
}

/** Links to all pages; those with unsaved changes are marked. */
export function Navigation({ page, unsaved }: NavigationProps): JSX.Element {
  const words = useWords()
  return (
    <nav class="pages" aria-label={words.nav.label}>
      <ul>
        {PAGES.map((each) => (
          <li key={each}>
            <a href={hrefOf(each)} aria-current={each === page ? 'page' : undefined}>
              <Icon of={each} />
              {words.nav[each]}
              {unsaved.some((href) => `${href}/`.startsWith(`${hrefOf(each)}/`)) && (
                <span class="dot" role="img" aria-label={words.nav.unsaved} />
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
