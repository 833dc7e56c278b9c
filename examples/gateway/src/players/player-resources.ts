import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { GateRepository } from '../gates/gate-repository.ts'
import { gateRoutes } from '../gates/routes.ts'
import type { Route } from '../http/route.ts'
import { Idempotency } from '../idempotency/idempotency.ts'
import { IdempotencyRecords } from '../idempotency/idempotency-records.ts'
import { ItemRepository } from '../items/item-repository.ts'
import { itemRoutes } from '../items/routes.ts'
import { queueRoutes, ticketRoutes } from '../tickets/routes.ts'
import { TicketRepository } from '../tickets/ticket-repository.ts'
import { TicketService } from '../tickets/ticket-service.ts'
import { PlayerRepository } from './player-repository.ts'
import { playerRoutes } from './routes.ts'

/** A player's data, apart from scores. */
export interface PlayerResources {
  readonly players: PlayerRepository
  readonly tickets: TicketService
  readonly items: ItemRepository
  readonly gates: GateRepository
  readonly idempotency: Idempotency
}

export function playerResources(db: Db, clock: Clock): PlayerResources {
  return {
    players: new PlayerRepository(db),
    tickets: new TicketService(new TicketRepository(db, clock)),
    items: new ItemRepository(db, clock),
    gates: new GateRepository(db, clock),
    idempotency: new Idempotency(new IdempotencyRecords(db, clock)),
  }
}

/** Returns the routes for all of it. */
export function playerResourceRoutes(resources: PlayerResources): Route[] {
  const { players, tickets, items, gates, idempotency } = resources
  return [
    ...playerRoutes(players),
    ...ticketRoutes(tickets, idempotency),
    ...queueRoutes(),
    ...itemRoutes(items),
    ...gateRoutes(gates),
  ]
}
