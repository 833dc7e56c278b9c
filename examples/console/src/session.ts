import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from './api/api.ts'
import type { Policy } from './api/documents.ts'
import type { Drafts } from './drafts.ts'

/** Whoever has signed in: the API with the token, what limits the gateway has, and what is typed and not saved. */
export interface Session {
  readonly api: Api
  readonly policy: Policy
  readonly drafts: Drafts
}

export const SessionContext: ReturnType<typeof createContext<Session | undefined>> = createContext<Session | undefined>(
  undefined,
)

/** The API with the token of whoever has signed in; only for what is shown after that. */
export function useApi(): Api {
  return useSession().api
}

export function usePolicy(): Policy {
  return useSession().policy
}

export function useDrafts(): Drafts {
  return useSession().drafts
}

function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('nobody has signed in')
  return session
}
