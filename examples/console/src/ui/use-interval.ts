import { useEffect, useRef } from 'preact/hooks'

/** Repeats an action while the page is visible. */
export function useInterval(act: () => void, everyMs: number): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
