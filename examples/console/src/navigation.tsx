import type { JSX } from 'preact'
import { pages } from './pages/index.ts'
import { hrefOf } from './route.ts'
import { Icon } from './ui/icon.tsx'
import { useSpeech } from './words/words.ts'

interface NavigationProps {
  readonly current: string | undefined
  /** The addresses of the pages with unsaved changes. */
  readonly unsaved: readonly string[]
}

/** Links to all pages. Those with unsaved changes are marked. */
export function Navigation({ current, unsaved }: NavigationProps): JSX.Element {
  const { language, words } = useSpeech()
  return (
    <nav class="pages" aria-label={words.nav.label}>
      <ul>
        {pages.map(({ path, labels, icon }) => (
          <li key={path}>
            <a href={hrefOf(path)} aria-current={current === path ? 'page' : undefined}>
              <Icon strokes={icon} />
              {labels[language]}
              {unsaved.some((href) => `${href}/`.startsWith(`${hrefOf(path)}/`)) && (
                <span class="dot" role="img" aria-label={words.nav.unsaved} />
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
