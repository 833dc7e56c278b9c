import type { JSX } from 'preact'
import { useExtras } from '../session.ts'
import { useSpeech } from '../words/words.ts'

/** Links from a page to the pages that extras add below it. */
export function LinksOf({ page }: { page: string }): JSX.Element {
  const { language } = useSpeech()
  const pages = useExtras().flatMap((extra) => extra.pages)
  return (
    <>
      {pages
        .filter(({ path }) => path.startsWith(`${page}/`))
        .map(({ path, labels }) => (
          <a key={path} href={`#/${path}`} class="listed">
            {labels[language]}
          </a>
        ))}
    </>
  )
}
