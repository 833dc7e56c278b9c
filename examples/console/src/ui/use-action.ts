import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.ts'

/** An action that takes a while and may fail. */
export interface Action {
  readonly isBusy: boolean
  readonly error: ApiError | undefined
  /** Resolves to whether it succeeded. */
  run(act: () => Promise<void>): Promise<boolean>
  clear(): void
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  return {
    isBusy,
    error,
    clear: () => setError(undefined),
    async run(act) {
      setBusy(true)
      setError(undefined)
      try {
        await act()
        return true
      } catch (fault) {
        if (!(fault instanceof ApiError)) throw fault
        setError(fault)
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
