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
      "latency_ms": 41,
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
          "updated_at": "2026-11-16T08:15:59.898Z"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "revision": 3,
          "updated_at": "2026-11-16T08:15:59.898Z"
        }
      ]
    }
  },
  "forgetFact": {
    "query": {
      "user_id": "ada",
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
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "usage": {
    "status": 200,
    "answer": {
      "account": "acme",
      "tier": "pro",
      "limit": 50000,
      "used": 3,
      "remaining": 49997,
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
          "count": 3
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
      "latency_ms": 24,
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
        "description": "Facts are written by label onto 40 channels per user and handed back one by one, or all together as one sealed block of 512 tokens. Every path also exists under /v1."
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
      "id": "d769c3d7471245a1",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T08:16:00.378Z",
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
          "id": "d769c3d7471245a1",
          "account": "navy",
          "tier": "pro",
          "prefix": "sb_live_…",
          "note": "Grace",
          "created_at": "2026-11-16T08:16:00.378Z",
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null
        }
      ]
    }
  },
  "adminExpireKey": {
    "params": {
      "id": "d769c3d7471245a1"
    },
    "body": {
      "expires_at": "2027-01-31T23:59:59.000Z"
    },
    "status": 200,
    "answer": {
      "id": "d769c3d7471245a1",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T08:16:00.378Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminRevokeKey": {
    "params": {
      "id": "d769c3d7471245a1"
    },
    "status": 200,
    "answer": {
      "id": "d769c3d7471245a1",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T08:16:00.378Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": "2026-11-16T08:16:00.405Z",
      "last_used_at": null
    }
  },
  "adminAccounts": {
    "status": 200,
    "answer": {
      "accounts": [
        {
          "account": "acme",
          "created_at": "2026-11-16T08:15:59.750Z",
          "keys": 1
        },
        {
          "account": "navy",
          "created_at": "2026-11-16T08:16:00.378Z",
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
          "key_id": "efa50f7c88584d4e",
          "account": "acme",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 3,
          "days": [
            {
              "day": "2026-11-16",
              "count": 3
            }
          ]
        },
        {
          "key_id": "d769c3d7471245a1",
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
          "id": "65f568486e234a4d",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "approved",
          "created_at": "2026-11-16T08:16:00.424Z",
          "decided_at": "2026-11-16T08:16:00.440Z",
          "key_id": "5ca130063feb48e2"
        },
        {
          "id": "b04431a259d24abb",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "declined",
          "created_at": "2026-11-16T08:16:00.453Z",
          "decided_at": "2026-11-16T08:16:00.469Z",
          "key_id": null
        },
        {
          "id": "e95224f487a84e52",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "open",
          "created_at": "2026-11-16T08:16:00.481Z",
          "decided_at": null,
          "key_id": null
        }
      ]
    }
  },
  "adminApprove": {
    "params": {
      "id": "65f568486e234a4d"
    },
    "body": {
      "account": "hopper"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "5ca130063feb48e2",
      "account": "hopper",
      "tier": "free",
      "prefix": "sb_live_…",
      "note": "Grace Hopper <grace@navy.example>",
      "created_at": "2026-11-16T08:16:00.440Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminDecline": {
    "params": {
      "id": "b04431a259d24abb"
    },
    "status": 200,
    "answer": {
      "id": "b04431a259d24abb",
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers.",
      "tier": "free",
      "status": "declined",
      "created_at": "2026-11-16T08:16:00.453Z",
      "decided_at": "2026-11-16T08:16:00.469Z",
      "key_id": null
    }
  },
  "adminDeleteRequest": {
    "params": {
      "id": "e95224f487a84e52"
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
      "process_id": 18235,
      "started_at": "2026-11-16T08:15:59.706Z",
      "ready": true,
      "store": {
        "facts": 0,
        "users": 0,
        "size_bytes": 77824
      },
      "demo": {
        "labels": [],
        "resets_in_s": 840
      },
      "recent_errors": [],
      "recent_requests": [
        {
          "at": "2026-11-16T08:16:00.218Z",
          "method": "GET",
          "route": "/usage/days",
          "status": 200,
          "account": "acme",
          "key_id": "efa50f7c88584d4e",
          "request_id": "KFdVU-Og-c"
        },
        {
          "at": "2026-11-16T08:16:00.214Z",
          "method": "GET",
          "route": "/usage",
          "status": 200,
          "account": "acme",
          "key_id": "efa50f7c88584d4e",
          "request_id": "KFdVU-Og-b"
        },
        {
          "at": "2026-11-16T08:16:00.210Z",
          "method": "DELETE",
          "route": "/users",
          "status": 200,
          "account": "acme",
          "key_id": "efa50f7c88584d4e",
          "request_id": "KFdVU-Og-a"
        }
      ]
    }
  }
};
