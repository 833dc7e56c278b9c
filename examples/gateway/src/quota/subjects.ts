import type { Policy, Subject } from '@scoregw/quota'
import { ownLayers } from './layer-members.ts'

/** Makes users subjects: whatever layers there are that each user has windows of, the user is the key in all of them. */
export function subjectsOf(policy: Policy): (userId: string) => Subject {
  const own = ownLayers(policy)
  if (own.length === 1) return (userId) => userId
  return (userId) => Object.fromEntries(own.map((layer) => [layer, userId]))
}
