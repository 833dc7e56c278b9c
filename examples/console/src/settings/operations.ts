import type { Settings } from '../api/api.ts'
import type { Category } from './axes.ts'

export type Operation = keyof Settings['prices']

/** What is charged for, and the price that holds until an administrator sets another. */
export const OPERATIONS: Readonly<Record<Operation, { readonly category: Category; readonly price: number }>> = {
  'user.data': { category: 'read', price: 2 },
  'user.charge': { category: 'read', price: 2 },
  'user.items': { category: 'read', price: 2 },
  'user.gates': { category: 'read', price: 2 },
  'user.music': { category: 'read', price: 4 },
  'source.lx': { category: 'read', price: 5 },
  'source.fish': { category: 'read', price: 5 },
  'ticket.clear': { category: 'write', price: 5 },
  'music.delete': { category: 'write', price: 10 },
  'music.upsert': { category: 'write', price: 15 },
  'user.clear': { category: 'write', price: 20 },
  'charge.2': { category: 'write', price: 10 },
  'charge.3': { category: 'write', price: 15 },
  'charge.5': { category: 'write', price: 25 },
}

export const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[]
