import { useLayoutEffect } from 'preact/hooks'
import { useWords } from '../words/words.ts'

/** Names the document, for tabs, bookmarks, and whoever goes back: the page first, then what it is a page of. */
export function useTitle(...names: readonly string[]): void {
  const words = useWords()
  const title = [...names, words.title].join(' · ')
  useLayoutEffect(() => {
    document.title = title
  }, [title])
}
