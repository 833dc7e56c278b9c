import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../api/api-error.ts'
import { useInterval } from './hooks.ts'

/** A loaded value. During a reload the previous value stays. */
export interface Resource<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  readonly isLoading: boolean
  reload(): void
  /** Sets a value that is known without loading. */
  replace(data: T): void
}

/**
 * Loads on first use, and again when a key changes.
 *
 * @param load its result is ignored if a key has changed meanwhile
 * @param everyMs loads again, while the page is visible, this long after each answer at the earliest. 0: never.
 */
export function useResource<T>(load: () => Promise<T>, keys: readonly unknown[], everyMs = 0): Resource<T> {
  const [state, setState] = useState<Pick<Resource<T>, 'data' | 'error' | 'isLoading'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  })
  const asked = useRef(0)

  const reload = useCallback(async () => {
    asked.current += 1
    const number = asked.current
    const answer = (change: Partial<typeof state>): void => {
      if (number === asked.current) setState((before) => ({ ...before, ...change, isLoading: false }))
    }
    setState((before) => ({ ...before, isLoading: true }))
    await load().then(
      (data) => answer({ data, error: undefined }),
      (error) => answer({ error: error as ApiError }),
    )
  }, keys)

  const replace = useCallback((data: T) => {
    asked.current += 1
    setState({ data, error: undefined, isLoading: false })
  }, [])

  // A slow answer isn't given up for the next one.
  useInterval(() => {
    if (!state.isLoading) void reload()
  }, everyMs)

  useEffect(() => {
    void reload()
    return () => {
      asked.current += 1
    }
  }, [reload])

  return { ...state, reload: () => void reload(), replace }
}
