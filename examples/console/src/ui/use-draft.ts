import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { draftKey } from '../drafts.ts'
import { useDrafts } from '../session.ts'

type Change<T> = T | ((before: T) => T)

/**
 * The state of a form. It survives visits to other pages.
 *
 * @param href the form's page, to find unsaved input again
 * @param isUnsaved whether leaving would lose input; a pure function of the state
 */
export function useDraft<T>(
  href: string,
  form: string,
  initial: T,
  isUnsaved: (value: T) => boolean,
): readonly [T, (change: Change<T>) => void] {
  const drafts = useDrafts()
  const key = draftKey(href, form)
  const read = (): T => (drafts.get(key) as T | undefined) ?? initial
  const [, render] = useState<unknown>()
  // Before the first frame, so that a key typed until then is noticed.
  useLayoutEffect(() => {
    const stop = drafts.watch(() => render(drafts.get(key)))
    return () => {
      stop()
      drafts.leave(key)
    }
  }, [drafts, key])
  const set = useCallback(
    (change: Change<T>) => {
      const next = typeof change === 'function' ? (change as (before: T) => T)(read()) : change
      drafts.set(key, next, isUnsaved(next))
    },
    [drafts, key],
  )
  return [read(), set]
}

/** The addresses of the pages with unsaved input. */
export function useUnsaved(): readonly string[] {
  const drafts = useDrafts()
  const [unsaved, setUnsaved] = useState(() => drafts.unsaved().join(' '))
  useEffect(() => {
    const look = (): void => setUnsaved(drafts.unsaved().join(' '))
    look()
    return drafts.watch(look)
  }, [drafts])
  return unsaved === '' ? [] : unsaved.split(' ')
}
