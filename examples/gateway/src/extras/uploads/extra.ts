import type { Extra } from '../extra.ts'
import { HeldUsage } from './held-usage.ts'
import { uploadRoutes } from './routes.ts'
import { UploadHolds } from './upload-holds.ts'
import { UploadRepository } from './upload-repository.ts'
import { UploadService } from './upload-service.ts'
import { upsertInParts } from './upsert-in-parts.ts'

/** Uploads in parts: tokens are held, then all scores are stored and charged together. */
export const uploads: Extra = {
  begin({ db, clock, logger, quota, usage, config }) {
    const service = new UploadService({
      ...{ db, clock, logger },
      uploads: new UploadRepository(db, clock),
      holds: new UploadHolds(quota),
      usage: new HeldUsage(usage.recorder, clock),
    })
    return {
      routes: uploadRoutes(service),
      chores: [service.chore],
      upsert: upsertInParts(service, config.supportForumUrl),
      close: () => service.close(),
    }
  },
}
