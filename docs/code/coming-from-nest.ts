import 'reflect-metadata'
import {
  BadRequestException,
  Controller,
  Get,
  Module,
  type Type,
} from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import {
  SkipThrottle,
  ThrottlerGuard,
  ThrottlerModule,
} from '@nestjs/throttler'
import { createQuota } from '@scoregw/quota'
import { Quota, QuotaGuard, QuotaModule } from '@scoregw/quota-nest'
import type { Request } from 'express'

const userOf = (req: Request): string => req.get('x-user') ?? 'nobody'

export function before(limit: number): Type {
  class ByUser extends ThrottlerGuard {
    protected override getTracker(req: Request): Promise<string> {
      return Promise.resolve(userOf(req))
    }
  }

  @Controller()
  class Scores {
    @Get('works')
    works(): string {
      return 'done'
    }

    @Get('fails')
    fails(): never {
      throw new BadRequestException()
    }

    @Get('health')
    @SkipThrottle()
    health(): string {
      return 'ok'
    }
  }

  @Module({
    imports: [ThrottlerModule.forRoot([{ ttl: 15 * 60_000, limit }])],
    controllers: [Scores],
    providers: [{ provide: APP_GUARD, useClass: ByUser }],
  })
  class App {}
  return App
}

export function after(limit: number): Type {
  const quota = createQuota({
    limits: {
      works: { by: 'user', limit, per: '15m', for: 'works' },
      fails: { by: 'user', limit, per: '15m', for: 'fails' },
    },
    operations: { works: {}, fails: {} },
  })

  @Controller()
  class Scores {
    @Get('works')
    @Quota('works')
    works(): string {
      return 'done'
    }

    @Get('fails')
    @Quota('fails')
    fails(): never {
      throw new BadRequestException()
    }

    @Get('health')
    @Quota(false)
    health(): string {
      return 'ok'
    }
  }

  @Module({
    imports: [
      QuotaModule.forRoot({
        quota,
        subject: userOf,
        settle: 'charge-first',
        legacyHeaders: true,
      }),
    ],
    controllers: [Scores],
    providers: [{ provide: APP_GUARD, useClass: QuotaGuard }],
  })
  class App {}
  return App
}
