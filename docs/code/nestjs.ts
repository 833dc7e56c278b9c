import 'reflect-metadata'
import { Body, Controller, Get, Module, Post } from '@nestjs/common'
import { createQuota } from '@scoregw/quota'
import { Quota, QuotaModule, RequestQuota } from '@scoregw/quota-nest'
import type { Request } from 'express'

export const quota = createQuota({
  limits: {
    reads: { by: 'user', limit: 120, per: '1h', for: 'read' },
    writes: { by: 'user', limit: 60, per: '1h', for: 'write' },
  },
  operations: { read: {}, write: {} },
})

@Controller('scores')
@Quota('read')
class ScoresController {
  @Get()
  list(): string[] {
    return []
  }

  @Post()
  @Quota('write', { cost: 20 })
  async import(
    @Body() rows: unknown[],
    @RequestQuota() own: RequestQuota,
  ) {
    await own.commit(rows.length)
    return { imported: rows.length }
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
      subject: (request: Request) => request.get('x-user'),
    }),
  ],
  controllers: [ScoresController],
})
export class AppModule {}
