import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useWords } from '../words/words.ts'

/** Repeats an action while the page is visible. With 0 it doesn't. */
export function useInterval(act: () => void, everyMs: number): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (everyMs === 0) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}

/** Below this width, tables with several columns become cards. */
const NARROW = '(max-width: 639.98px)'

export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const look = (): void => setNarrow(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow
}

/** Sets the document's title: the page first, then the larger parts. */
export function useTitle(...names: readonly string[]): void {
  const words = useWords()
  const title = [...names, words.title].join(' · ')
  useLayoutEffect(() => {
    document.title = title
  }, [title])
}
