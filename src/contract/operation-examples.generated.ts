/** Requests and the answers of a real service. Made by npm run examples; not edited by hand. */

import type { OperationExample } from "./operation.ts";
import type { OperationId } from "./operations.ts";

export const OPERATION_EXAMPLES: Readonly<Record<OperationId, OperationExample>> = {
  "encode": {
    "body": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "encodeBatch": {
    "body": {
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01"
        }
      ]
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ]
    }
  },
  "context": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "channel_count": 2,
      "channel_labels": [
        "USER.name",
        "TASK.deadline"
      ],
      "plain_index": "USER.name=Ada Lovelace\nTASK.deadline=2026-12-01"
    }
  },
  "decode": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "state",
      "latency_ms": 0
    }
  },
  "decodeModel": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 355,
      "verified": true
    }
  },
  "flush": {
    "body": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "lossless": true,
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "overflow": []
    }
  },
  "read": {
    "body": {
      "user_id": "ada",
      "block": "[MEM] fonts upgrade formulation bones … massage [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 495
    }
  },
  "facts": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0,
          "revision": 2,
          "updated_at": "2026-11-16T18:49:32.556Z"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "revision": 3,
          "updated_at": "2026-11-16T18:49:32.556Z"
        }
      ]
    }
  },
  "forgetFact": {
    "query": {
      "user_id": "a-user-to-forget",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1
    }
  },
  "forgetUser": {
    "query": {
      "user_id": "a-user-to-forget"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "createToken": {
    "body": {
      "user_id": "ada",
      "access": "read",
      "ttl_s": 3600
    },
    "status": 200,
    "answer": {
      "token": "sbt_…",
      "expires_at": "2026-11-16T19:49:34.526Z"
    }
  },
  "usage": {
    "status": 200,
    "answer": {
      "account": "acme",
      "tier": "pro",
      "limit": 50000,
      "used": 5,
      "remaining": 49995,
      "resets_at": "2026-12-01T00:00:00.000Z"
    }
  },
  "usageDays": {
    "status": 200,
    "answer": {
      "from": "2026-10-17",
      "to": "2026-11-16",
      "days": [
        {
          "day": "2026-11-16",
          "count": 5
        }
      ]
    }
  },
  "demoEncode": {
    "body": {
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "demoContext": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "channel_count": 1,
      "channel_labels": [
        "TASK.deadline"
      ],
      "plain_index": "TASK.deadline=2026-12-01"
    }
  },
  "demoDecode": {
    "query": {
      "label": "TASK.deadline",
      "use_model": "true"
    },
    "status": 200,
    "answer": {
      "user_id": "demo",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 21,
      "verified": true
    }
  },
  "demoFlush": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1,
      "lossless": true,
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "overflow": []
    }
  },
  "demoRead": {
    "body": {
      "block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "demo",
      "facts": [
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 497
    }
  },
  "demoKey": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "keys": [
        {
          "key_id": 1,
          "material": "…"
        }
      ],
      "versions": [
        7,
        1
      ]
    }
  },
  "demoForget": {
    "query": {
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "demoReset": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "channels": {
    "status": 200,
    "answer": {
      "channels": [
        {
          "channel": 0,
          "label": "USER.name",
          "description": "What the user is called",
          "example": "Ada Okafor"
        },
        {
          "channel": 1,
          "label": "USER.project",
          "description": "The project the user works on",
          "example": "Sideband"
        },
        {
          "channel": 2,
          "label": "USER.affiliation",
          "description": "Company, university or team",
          "example": "Delft University of Technology"
        }
      ]
    }
  },
  "openapi": {
    "status": 200,
    "answer": {
      "openapi": "3.1.0",
      "info": {
        "title": "Sideband",
        "version": "0.1.0",
        "summary": "Persistent fact memory for AI agents",
        "description": "Facts are written by label onto 40 channels per user and handed back one by one, or together, as many as fit, as one sealed block of 512 tokens. Every path also exists under /v1."
      }
    }
  },
  "health": {
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "ready": {
    "status": 200,
    "answer": {
      "status": "ready"
    }
  },
  "metrics": {
    "status": 200,
    "answer": "# HELP sideband_corrupt_records_total Reads that met a record which fails its checksum.\n# TYPE sideband_corrupt_records_total counter\n…"
  },
  "adminCreateKey": {
    "body": {
      "account": "navy",
      "tier": "pro",
      "note": "Grace"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "942fa5c2222748fa",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-16T18:49:34.936Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminKeys": {
    "query": {
      "account": "navy"
    },
    "status": 200,
    "answer": {
      "keys": [
        {
          "id": "942fa5c2222748fa",
          "account": "navy",
          "tier": "pro",
          "prefix": "sb_live_…",
          "note": "Grace",
          "user": null,
          "access": "write",
          "created_at": "2026-11-16T18:49:34.936Z",
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null
        }
      ]
    }
  },
  "adminExpireKey": {
    "params": {
      "id": "942fa5c2222748fa"
    },
    "body": {
      "expires_at": "2027-01-31T23:59:59.000Z"
    },
    "status": 200,
    "answer": {
      "id": "942fa5c2222748fa",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-16T18:49:34.936Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminRevokeKey": {
    "params": {
      "id": "942fa5c2222748fa"
    },
    "status": 200,
    "answer": {
      "id": "942fa5c2222748fa",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-16T18:49:34.936Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": "2026-11-16T18:49:35.046Z",
      "last_used_at": null
    }
  },
  "adminAccounts": {
    "status": 200,
    "answer": {
      "accounts": [
        {
          "account": "acme",
          "created_at": "2026-11-16T18:49:31.442Z",
          "keys": 1
        },
        {
          "account": "navy",
          "created_at": "2026-11-16T18:49:34.936Z",
          "keys": 1
        }
      ]
    }
  },
  "adminUsage": {
    "status": 200,
    "answer": {
      "from": "2026-10-17",
      "to": "2026-11-16",
      "keys": [
        {
          "key_id": "c121cb42c6cd49a3",
          "account": "acme",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 5,
          "days": [
            {
              "day": "2026-11-16",
              "count": 5
            }
          ]
        },
        {
          "key_id": "942fa5c2222748fa",
          "account": "navy",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 0,
          "days": []
        }
      ]
    }
  },
  "requestKey": {
    "body": {
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers."
    },
    "status": 202,
    "answer": {
      "status": "received"
    }
  },
  "adminKeyRequests": {
    "status": 200,
    "answer": {
      "requests": [
        {
          "id": "408cb90cf5ee4955",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "approved",
          "created_at": "2026-11-16T18:49:35.108Z",
          "decided_at": "2026-11-16T18:49:35.160Z",
          "key_id": "de36b4a82a654ad6"
        },
        {
          "id": "de208a824877436c",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "declined",
          "created_at": "2026-11-16T18:49:35.180Z",
          "decided_at": "2026-11-16T18:49:35.208Z",
          "key_id": null
        },
        {
          "id": "cdd76542d71641dd",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "open",
          "created_at": "2026-11-16T18:49:35.235Z",
          "decided_at": null,
          "key_id": null
        }
      ]
    }
  },
  "adminApprove": {
    "params": {
      "id": "408cb90cf5ee4955"
    },
    "body": {
      "account": "hopper"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "de36b4a82a654ad6",
      "account": "hopper",
      "tier": "free",
      "prefix": "sb_live_…",
      "note": "Grace Hopper <grace@navy.example>",
      "user": null,
      "access": "write",
      "created_at": "2026-11-16T18:49:35.160Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminDecline": {
    "params": {
      "id": "de208a824877436c"
    },
    "status": 200,
    "answer": {
      "id": "de208a824877436c",
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers.",
      "tier": "free",
      "status": "declined",
      "created_at": "2026-11-16T18:49:35.180Z",
      "decided_at": "2026-11-16T18:49:35.208Z",
      "key_id": null
    }
  },
  "adminDeleteRequest": {
    "params": {
      "id": "cdd76542d71641dd"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "adminStatus": {
    "status": 200,
    "answer": {
      "version": "0.1.0",
      "process_id": 27896,
      "started_at": "2026-11-16T18:49:31.382Z",
      "ready": true,
      "store": {
        "facts": 2,
        "users": 1,
        "size_bytes": 81920
      },
      "demo": {
        "labels": [],
        "resets_in_s": 625
      },
      "recent_errors": [],
      "recent_requests": [
        {
          "at": "2026-11-16T18:49:34.564Z",
          "method": "GET",
          "route": "/usage/days",
          "status": 200,
          "account": "acme",
          "key_id": "c121cb42c6cd49a3",
          "request_id": "lFcV04ut-e"
        },
        {
          "at": "2026-11-16T18:49:34.541Z",
          "method": "GET",
          "route": "/usage",
          "status": 200,
          "account": "acme",
          "key_id": "c121cb42c6cd49a3",
          "request_id": "lFcV04ut-d"
        },
        {
          "at": "2026-11-16T18:49:34.527Z",
          "method": "POST",
          "route": "/tokens",
          "status": 200,
          "account": "acme",
          "key_id": "c121cb42c6cd49a3",
          "request_id": "lFcV04ut-c"
        }
      ]
    }
  }
};
