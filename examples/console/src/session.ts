import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from './api/api.ts'
import type { Drafts } from './drafts.ts'

export interface Session {
  readonly api: Api
  readonly drafts: Drafts
}

export const SessionContext: ReturnType<typeof createContext<Session | undefined>> = createContext<Session | undefined>(
  undefined,
)

/** The API with the administrator's token. Use it only in components that are shown after the sign-in. */
export function useApi(): Api {
  return useSession().api
}

export function useDrafts(): Drafts {
  return useSession().drafts
}

function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('nobody has signed in')
  return session
}
