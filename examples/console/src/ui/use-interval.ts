import { useEffect, useRef } from 'preact/hooks'

/** Does something again and again while the page is checked. */
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
