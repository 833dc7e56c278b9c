import { useLayoutEffect } from 'preact/hooks'
import { useWords } from '../words/words.ts'

/** Sets the document's title: the page first, then the larger parts. */
export function useTitle(...names: readonly string[]): void {
  const words = useWords()
  const title = [...names, words.title].join(' · ')
  useLayoutEffect(() => {
    document.title = title
  }, [title])
}
