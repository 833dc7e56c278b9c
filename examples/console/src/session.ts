import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from './api/api.ts'

export const SessionContext: ReturnType<typeof createContext<Api | undefined>> = createContext<Api | undefined>(
  undefined,
)

/** The API with the token of whoever has signed in; only for what is shown after that. */
export function useApi(): Api {
  const api = useContext(SessionContext)
  if (api === undefined) throw new Error('nobody has signed in')
  return api
}
