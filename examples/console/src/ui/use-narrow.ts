import { useEffect, useState } from 'preact/hooks'

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
